package io.holdfast.spring.startup;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.LocalLock;
import io.holdfast.LockClient;
import io.holdfast.spring.Locked;
import io.holdfast.spring.boot.Contexts;
import io.holdfast.spring.declaration.LockedDefinitionException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.junit.jupiter.api.Test;
import org.springframework.aop.framework.autoproxy.DefaultAdvisorAutoProxyCreator;
import org.springframework.aop.support.DefaultPointcutAdvisor;
import org.springframework.aop.support.NameMatchMethodPointcut;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.Ordered;
import org.springframework.core.task.SimpleAsyncTaskExecutor;
import org.springframework.scheduling.annotation.Async;
import org.springframework.scheduling.annotation.EnableAsync;

/** {@code @Async} is outside of the lock, whatever order it was given. */
public class LockedAsyncOrderTest {

    @Configuration(proxyBeanMethods = false)
    @EnableAsync
    static class Plain {}

    @Configuration(proxyBeanMethods = false)
    @EnableAsync(order = Ordered.HIGHEST_PRECEDENCE)
    static class First {}

    public static class Work {

        private final LockClient client;

        Work(LockClient client) {
            this.client = client;
        }

        @Async
        @Locked("work")
        public void work(CountDownLatch called, CompletableFuture<List<String>> held) throws InterruptedException {
            // The caller is back by then.
            called.await();
            held.complete(client.localLocks().stream().map(LocalLock::name).toList());
        }

        @Async("chosen")
        @Locked("stage")
        public CompletableFuture<String> stage() {
            return CompletableFuture.completedFuture(Thread.currentThread().getName());
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAsync(order = Ordered.HIGHEST_PRECEDENCE)
    static class FirstWithAnotherAspect {

        @Bean
        static DefaultAdvisorAutoProxyCreator creator() {
            DefaultAdvisorAutoProxyCreator creator = new DefaultAdvisorAutoProxyCreator();
            creator.setOrder(Ordered.HIGHEST_PRECEDENCE + 1);
            creator.setProxyTargetClass(true);
            return creator;
        }

        @Bean
        static DefaultPointcutAdvisor aspect() {
            return new DefaultPointcutAdvisor(
                    new NameMatchMethodPointcut().addMethodName("work"), (MethodInterceptor) MethodInvocation::proceed);
        }
    }

    /** Its proxy is then around that of {@code @Async}, and the lock could only be outside of both. */
    @Test
    void a_proxy_between_them_stops_the_start() {
        Contexts.memory("asynchronous")
                .withUserConfiguration(FirstWithAnotherAspect.class)
                .withBean(Work.class)
                .run(context -> assertThat(context)
                        .getFailure()
                        .rootCause()
                        .isInstanceOf(LockedDefinitionException.class)
                        .hasMessageContaining("@Async"));
    }

    interface Job {
        void work();
    }

    public static class JobWork implements Job {
        @Override
        @Async
        @Locked("work")
        public void work() {}
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAsync(order = Ordered.HIGHEST_PRECEDENCE)
    static class FirstWithAnotherAspectByInterfaces {

        @Bean
        static DefaultAdvisorAutoProxyCreator creator() {
            DefaultAdvisorAutoProxyCreator creator = new DefaultAdvisorAutoProxyCreator();
            creator.setOrder(Ordered.HIGHEST_PRECEDENCE + 1);
            return creator;
        }

        @Bean
        static DefaultPointcutAdvisor aspect() {
            return new DefaultPointcutAdvisor(
                    new NameMatchMethodPointcut().addMethodName("work"), (MethodInterceptor) MethodInvocation::proceed);
        }
    }

    /** The outer one does not know the class, nor what marks its methods. */
    @Test
    void a_proxy_by_interfaces_between_them_stops_the_start() {
        Contexts.memory("asynchronous")
                .withPropertyValues("spring.aop.proxy-target-class=false")
                .withUserConfiguration(FirstWithAnotherAspectByInterfaces.class)
                .withBean(JobWork.class)
                .run(context -> assertThat(context)
                        .getFailure()
                        .rootCause()
                        .isInstanceOf(LockedDefinitionException.class)
                        .hasMessageContaining("JobWork.work()")
                        .hasMessageContaining("@EnableAsync without an order"));
    }

    @Test
    void a_method_that_returns_a_stage_runs_on_the_executor_that_its_annotation_chose() {
        Contexts.memory("asynchronous")
                .withUserConfiguration(Plain.class)
                .withBean("chosen", SimpleAsyncTaskExecutor.class, () -> new SimpleAsyncTaskExecutor("chosen-"))
                .withBean(Work.class)
                .run(context -> {
                    Work work = context.getBean(Work.class);
                    for (int i = 0; i < 50; i++) {
                        assertThat(work.stage())
                                .succeedsWithin(Duration.ofSeconds(10))
                                .asString()
                                .startsWith("chosen-");
                    }
                });
    }

    @Test
    void the_lock_is_held_by_the_thread_that_does_the_work() {
        for (Class<?> order : List.of(Plain.class, First.class)) {
            Contexts.memory("asynchronous")
                    .withUserConfiguration(order)
                    .withBean(Work.class)
                    .run(context -> {
                        CountDownLatch called = new CountDownLatch(1);
                        CompletableFuture<List<String>> held = new CompletableFuture<>();
                        context.getBean(Work.class).work(called, held);
                        called.countDown();
                        assertThat(held.get(10, TimeUnit.SECONDS))
                                .as(order.getName())
                                .containsExactly("work");
                    });
        }
    }
}
