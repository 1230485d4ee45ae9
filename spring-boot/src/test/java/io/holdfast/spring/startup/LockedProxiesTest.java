package io.holdfast.spring.startup;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.LocalLock;
import io.holdfast.LockClient;
import io.holdfast.MultiLease;
import io.holdfast.spring.Locked;
import io.holdfast.spring.OnBusy;
import io.holdfast.spring.boot.Contexts;
import io.holdfast.spring.call.LockedInterceptor;
import io.holdfast.spring.declaration.LockedDefinitionException;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.aop.framework.Advised;
import org.springframework.aop.framework.ProxyFactory;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Primary;
import org.springframework.context.annotation.Scope;

/** Beans that other proxies, or other names, are put around: locked once, or refused. */
public class LockedProxiesTest {

    public interface Pay {
        CompletableFuture<List<String>> pay();

        int leases(MultiLease leases);
    }

    public static class StripePay implements Pay {

        private final LockClient client;

        StripePay(LockClient client) {
            this.client = client;
        }

        @Override
        @Locked(name = "pay", waitTime = "0", onBusy = OnBusy.SKIP)
        public CompletableFuture<List<String>> pay() {
            return CompletableFuture.completedFuture(held(client));
        }

        @Override
        @Locked("pays")
        public int leases(MultiLease leases) {
            return leases.leases().size();
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class SeveralNames {

        @Bean
        StripePay stripe(LockClient client) {
            return new StripePay(client);
        }

        @Bean
        @Primary
        Pay primary(StripePay stripe) {
            return stripe;
        }

        @Bean
        @Scope("prototype")
        Pay each(StripePay stripe) {
            return stripe;
        }
    }

    private static void assertLockedOnce(Pay pay) throws Exception {
        // The lock of an outer one would be busy for the inner, which would be skipped.
        assertThat(pay.pay().get(10, TimeUnit.SECONDS)).containsExactly("pay");
        assertThat(pay.leases(null)).isEqualTo(1);
    }

    private static long locksOf(Object bean) {
        return Arrays.stream(((Advised) bean).getAdvisors())
                .filter(each -> each.getAdvice() instanceof LockedInterceptor)
                .count();
    }

    @Test
    void one_object_with_several_names_is_locked_once() {
        Contexts.memory("names").withUserConfiguration(SeveralNames.class).run(context -> {
            assertThat(context).hasNotFailed();
            assertLockedOnce(context.getBean(Pay.class));
            assertThat(context.getBean("each")).isSameAs(context.getBean("each"));
            assertThat(locksOf(context.getBean("stripe"))).isEqualTo(1);
            assertLockedOnce((Pay) context.getBean("each"));
        });
    }

    @Test
    void a_bean_of_a_parent_context_that_its_child_has_too_is_locked_once() {
        Contexts.memory("parent").withBean(StripePay.class).run(parent -> {
            StripePay stripe = parent.getBean(StripePay.class);
            Contexts.memory("child")
                    .withParent(parent)
                    .withBean("again", Pay.class, () -> stripe)
                    .run(context -> {
                        assertThat(context).hasNotFailed();
                        assertLockedOnce((Pay) context.getBean("again"));
                        assertThat(locksOf(stripe)).isEqualTo(1);
                    });
        });
    }

    /** As an aspect of a user without Spring's auto-proxy creators. */
    static class Wrapper implements BeanPostProcessor {

        private final boolean classes;

        Wrapper(boolean classes) {
            this.classes = classes;
        }

        @Override
        public Object postProcessAfterInitialization(Object bean, String beanName) {
            if (!beanName.equals("stripe")) {
                return bean;
            }
            ProxyFactory factory = new ProxyFactory(bean);
            factory.setProxyTargetClass(classes);
            factory.addAdvice((MethodInterceptor) MethodInvocation::proceed);
            return factory.getProxy();
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class AnotherName {
        @Bean
        Pay again(Pay stripe) {
            return stripe;
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void a_lock_inside_of_another_proxy_is_a_lock(boolean classes) {
        wrapped(classes).run(context -> {
            assertThat(context).hasNotFailed();
            assertLockedOnce((Pay) context.getBean("stripe"));
        });
        wrapped(classes).withUserConfiguration(AnotherName.class).run(context -> {
            assertThat(context).hasNotFailed();
            assertLockedOnce((Pay) context.getBean("again"));
        });
    }

    private static ApplicationContextRunner wrapped(boolean classes) {
        return Contexts.memory("wrapped")
                .withPropertyValues("spring.aop.proxy-target-class=" + classes)
                .withBean(Wrapper.class, () -> new Wrapper(classes))
                .withBean("stripe", StripePay.class);
    }

    public interface Base {
        Object call();
    }

    @Locked("whole")
    interface Sub extends Base, Supplier<Object> {}

    @Test
    void a_lock_on_an_interface_is_for_what_it_inherits() {
        Contexts.memory("inherits").withUserConfiguration(Targetless.class).run(context -> {
            assertThat(context).hasNotFailed();
            Sub bean = context.getBean(Sub.class);
            assertThat(bean.call()).isEqualTo(List.of("whole"));
            assertThat(bean.get()).isEqualTo(List.of("whole"));
        });
    }

    @Configuration(proxyBeanMethods = false)
    static class Targetless {
        /** As a client by {@code @HttpExchange}. */
        @Bean
        Sub sub(LockClient client) {
            return ProxyFactory.getProxy(Sub.class, (MethodInterceptor) call -> held(client));
        }
    }

    /** As the base class of repositories: it does not know their interfaces. */
    public static class General {

        @Locked("one")
        public Object one() {
            return "one";
        }

        public Object all() {
            return "all";
        }
    }

    interface Repository {
        Object one();

        @Locked("all")
        Object all();
    }

    @Configuration(proxyBeanMethods = false)
    static class BothMarked {
        @Bean
        Repository repository() {
            General target = new General();
            ProxyFactory factory = new ProxyFactory();
            factory.setTarget(target);
            factory.setInterfaces(Repository.class);
            factory.addAdvice(
                    (MethodInterceptor) call -> call.getMethod().getName().equals("one") ? target.one() : target.all());
            return (Repository) factory.getProxy();
        }
    }

    public static class NotKnowing {
        public Object one() {
            return "one";
        }

        public Object all() {
            return "all";
        }
    }

    /** The method that is called is that of a class without the interface. */
    public static class Inheriting extends NotKnowing implements Repository {}

    @ParameterizedTest
    @ValueSource(classes = {BothMarked.class, Inheriting.class})
    void a_mark_where_no_call_is_seen_stops_the_start(Class<?> type) {
        Contexts.memory("unseen")
                .withUserConfiguration(type)
                .run(context -> assertThat(context)
                        .getFailure()
                        .rootCause()
                        .isInstanceOf(LockedDefinitionException.class)
                        .hasMessageContaining("Repository.all()")
                        .hasMessageContaining("would run without its lock"));
    }

    @Locked("prices")
    public interface PriceOrder extends Comparator<LockClient> {}

    /** Does not override {@code equals}, which a comparator declares once more. */
    public static class ByAmount implements PriceOrder {
        @Override
        public int compare(LockClient one, LockClient other) {
            return held(one).size() + held(other).size();
        }
    }

    @Test
    void an_interface_that_declares_what_every_object_has_can_be_marked() {
        Contexts.memory("comparator").withBean(ByAmount.class).run(context -> {
            assertThat(context).hasNotFailed();
            LockClient client = context.getBean(LockClient.class);
            assertThat(context.getBean(PriceOrder.class).compare(client, client))
                    .isEqualTo(2);
        });
    }

    public interface Gateway {
        @Locked("gateway")
        void send();
    }

    @Configuration(proxyBeanMethods = false)
    static class WithAnotherInterface {

        @Bean
        StripePay stripe(LockClient client) {
            return new StripePay(client);
        }

        @Bean
        Object gateway(StripePay locked) {
            ProxyFactory proxies = new ProxyFactory(locked);
            proxies.addInterface(Gateway.class);
            proxies.addAdvice((MethodInterceptor) call -> null);
            return proxies.getProxy();
        }
    }

    @Test
    void a_marked_interface_that_another_proxy_adds_to_a_locked_bean_stops_the_start() {
        Contexts.memory("adds")
                .withUserConfiguration(WithAnotherInterface.class)
                .run(context -> assertThat(context)
                        .getFailure()
                        .rootCause()
                        .isInstanceOf(LockedDefinitionException.class)
                        .hasMessageContaining("Gateway"));
    }

    private static List<String> held(LockClient client) {
        return client.localLocks().stream().map(LocalLock::name).toList();
    }
}
