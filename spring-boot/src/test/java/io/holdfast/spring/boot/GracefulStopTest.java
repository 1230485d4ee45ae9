package io.holdfast.spring.boot;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.Lease;
import io.holdfast.LockClient;
import io.holdfast.LockClientClosedException;
import io.holdfast.spring.LockTemplate;
import io.holdfast.spring.Locked;
import io.holdfast.spring.LockedConfiguration;
import io.holdfast.spring.ScheduledLock;
import io.holdfast.testkit.servers.RedisServer;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.scheduling.annotation.Async;
import org.springframework.scheduling.annotation.EnableAsync;
import org.springframework.scheduling.annotation.EnableScheduling;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.scheduling.concurrent.ThreadPoolTaskExecutor;
import org.springframework.scheduling.concurrent.ThreadPoolTaskScheduler;
import reactor.core.publisher.Mono;

/**
 * A context is closed while work under a lock runs, and an executor or a bean waits for that work when it is destroyed.
 * No other client gets the lock before the work has ended, and the work may take further locks.
 */
@Timeout(120)
class GracefulStopTest {

    private static final Duration LONG_ENOUGH = Duration.ofMillis(700);

    /** How the work went. One for each test, because static methods of Spring's configurations share nothing else. */
    static final class Course {
        final CountDownLatch begun = new CountDownLatch(1);
        volatile boolean heldToTheEnd;
        volatile @Nullable Throwable atNextRow;
        volatile long endedNanos;

        void work(@Nullable Lease lease, Rows rows) {
            begun.countDown();
            try {
                Thread.sleep(LONG_ENOUGH.toMillis());
                heldToTheEnd = lease == null || lease.isValid();
                rows.next();
            } catch (Throwable e) {
                atNextRow = e;
            }
            endedNanos = System.nanoTime();
        }
    }

    /** Is called for the first time when the destruction has begun. */
    static class Rows {
        @Locked(name = "next")
        public void next() {}
    }

    @Configuration(proxyBeanMethods = false)
    static class Base {
        @Bean
        Course course() {
            return new Course();
        }

        @Bean
        Rows rows() {
            return new Rows();
        }
    }

    // --- the kinds of work ---

    static class ScheduledJob {
        @Autowired
        Course course;

        @Autowired
        Rows rows;

        @Scheduled(initialDelay = 1, fixedDelay = 600_000)
        @ScheduledLock(name = "job")
        public void run() {
            course.work(null, rows);
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableScheduling
    static class OnScheduler {
        @Bean
        ThreadPoolTaskScheduler taskScheduler() {
            ThreadPoolTaskScheduler scheduler = new ThreadPoolTaskScheduler();
            scheduler.setWaitForTasksToCompleteOnShutdown(true);
            scheduler.setAwaitTerminationSeconds(60);
            return scheduler;
        }

        @Bean
        ScheduledJob job() {
            return new ScheduledJob();
        }
    }

    static class AsyncJob {
        @Autowired
        Course course;

        @Autowired
        Rows rows;

        @Async
        @Locked(name = "job")
        public void run(@Nullable Lease lease) {
            course.work(lease, rows);
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAsync
    static class OnAsync {
        @Bean
        ThreadPoolTaskExecutor taskExecutor() {
            ThreadPoolTaskExecutor executor = new ThreadPoolTaskExecutor();
            executor.setWaitForTasksToCompleteOnShutdown(true);
            executor.setAwaitTerminationSeconds(60);
            return executor;
        }

        @Bean
        AsyncJob job() {
            return new AsyncJob();
        }
    }

    /** A pool that its owner ends when it is destroyed. */
    static class OwnPool implements DisposableBean {
        private final ExecutorService pool = Executors.newSingleThreadExecutor();

        void start(Runnable work) {
            pool.execute(work);
        }

        @Override
        public void destroy() throws InterruptedException {
            pool.shutdown();
            assertThat(pool.awaitTermination(60, SECONDS)).isTrue();
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class OnOwnPool {
        @Bean
        OwnPool pool() {
            return new OwnPool();
        }
    }

    static class ReactiveJob {
        @Autowired
        Course course;

        @Autowired
        Rows rows;

        @Locked(name = "job")
        public Mono<String> run(@Nullable Lease lease) {
            return Mono.fromCallable(() -> {
                course.work(lease, rows);
                return "done";
            });
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class Reactive {
        @Bean
        ReactiveJob job() {
            return new ReactiveJob();
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class OwnClient {
        /** Has an inferred destroy method. */
        @Bean
        LockClient own() {
            return LockClient.connect("memory:stop");
        }
    }

    // --- what is the same for all ---

    private interface Start {
        void begin(ConfigurableApplicationContext context) throws Exception;
    }

    private static void endsUnderItsLock(ApplicationContextRunner runner, String store, Start start) {
        runner.run(context -> endsUnderItsLock(context.getSourceApplicationContext(), store, start));
    }

    private static void endsUnderItsLock(ConfigurableApplicationContext context, String store, Start start)
            throws Exception {
        LockClient client = context.getBean(LockClient.class);
        Course course = context.getBean(Course.class);
        start.begin(context);
        assertThat(course.begun.await(30, SECONDS)).isTrue();
        try (LockClient other = LockClient.connect(store)) {
            CompletableFuture<Long> granted = other.acquireAsync("job")
                    .thenApply(lease -> {
                        long now = System.nanoTime();
                        lease.release();
                        return now;
                    })
                    .toCompletableFuture();
            context.close();

            assertThat(course.atNextRow).isNull();
            assertThat(course.endedNanos).as("the close waited for the work").isNotZero();
            assertThat(course.heldToTheEnd).isTrue();
            // The work ends just before its lock is released.
            assertThat(granted.get(60, SECONDS) - course.endedNanos)
                    .as("nanoseconds from the end of the work to the grant for the other client")
                    .isPositive();
            assertThat(other.tryAcquire("next")).isPresent();
        }
        assertThat(client.toString()).contains("closed");
    }

    private static ApplicationContextRunner memory(Class<?>... configurations) {
        return Contexts.memory("stop").withUserConfiguration(Base.class).withUserConfiguration(configurations);
    }

    @Test
    void a_scheduled_job_on_a_scheduler_that_waits() {
        endsUnderItsLock(memory(OnScheduler.class), "memory:stop", context -> {});
    }

    @Test
    void an_async_method_on_an_executor_that_waits() {
        endsUnderItsLock(
                memory(OnAsync.class),
                "memory:stop",
                context -> context.getBean(AsyncJob.class).run(null));
    }

    @Test
    void a_template_in_a_pool_that_its_bean_ends() {
        endsUnderItsLock(memory(OnOwnPool.class), "memory:stop", GracefulStopTest::startTemplate);
    }

    @Test
    void a_reactive_method() {
        endsUnderItsLock(memory(OnOwnPool.class, Reactive.class), "memory:stop", context -> {
            ReactiveJob job = context.getBean(ReactiveJob.class);
            context.getBean(OwnPool.class).start(() -> job.run(null).block());
        });
    }

    @Test
    void a_client_of_the_application() {
        endsUnderItsLock(
                new ApplicationContextRunner()
                        .withConfiguration(org.springframework.boot.autoconfigure.AutoConfigurations.of(
                                HoldfastAutoConfiguration.class))
                        .withUserConfiguration(Base.class, OwnClient.class, OnAsync.class),
                "memory:stop",
                context -> context.getBean(AsyncJob.class).run(null));
    }

    @Test
    void without_Boot() throws Exception {
        try (var context = new AnnotationConfigApplicationContext(
                LockedConfiguration.class, Base.class, OwnClient.class, OnAsync.class)) {
            endsUnderItsLock(
                    context, "memory:stop", each -> each.getBean(AsyncJob.class).run(null));
        }
    }

    /** Spring Boot ends the threads that it gives to the application's connections before the executor has waited. */
    @Test
    void the_applications_own_Redis() {
        try (RedisServer server = RedisServer.start()) {
            endsUnderItsLock(
                    Contexts.boot()
                            .withPropertyValues("spring.data.redis.url=" + server.uri())
                            .withUserConfiguration(Base.class, OnOwnPool.class),
                    server.uri(),
                    GracefulStopTest::startTemplate);
        }
    }

    private static void startTemplate(ConfigurableApplicationContext context) {
        LockTemplate template = context.getBean(LockTemplate.class);
        Course course = context.getBean(Course.class);
        Rows rows = context.getBean(Rows.class);
        context.getBean(OwnPool.class)
                .start(() -> template.executeWithoutResult("job", lease -> course.work(lease, rows)));
    }

    /** Work for which nobody waits costs the next client one lease: its lock is not given away. */
    @Test
    void work_that_outlives_the_context_keeps_its_lock_for_a_lease() {
        memory().withPropertyValues("holdfast.lease-time=3s").run(context -> {
            LockTemplate template = context.getBean(LockTemplate.class);
            CountDownLatch begun = new CountDownLatch(1);
            CountDownLatch mayEnd = new CountDownLatch(1);
            CompletableFuture<Boolean> heldToTheEnd = CompletableFuture.supplyAsync(() -> {
                try {
                    return template.execute("job", lease -> {
                        begun.countDown();
                        mayEnd.await();
                        return lease.isValid();
                    });
                } catch (RuntimeException e) {
                    throw e;
                } catch (Exception e) {
                    throw new IllegalStateException(e);
                }
            });
            assertThat(begun.await(30, SECONDS)).isTrue();
            context.getSourceApplicationContext().close();

            try (LockClient other = LockClient.connect("memory:stop")) {
                assertThat(other.tryAcquire("job")).isEmpty();
                other.acquire("job", Duration.ofSeconds(30)).release();
            }
            mayEnd.countDown();
            assertThat(heldToTheEnd)
                    .failsWithin(Duration.ofSeconds(30))
                    .withThrowableOfType(java.util.concurrent.ExecutionException.class)
                    .withMessageContaining("was closed while work under it ran");
        });
    }

    /** A stop that is no close, as before a checkpoint, closes the client at once. */
    @Test
    void a_stop_without_a_close_closes_the_client() {
        memory().run(context -> {
            LockClient client = context.getBean(LockClient.class);
            context.getSourceApplicationContext().stop();
            org.assertj.core.api.Assertions.assertThatThrownBy(() -> client.tryAcquire("x"))
                    .isInstanceOf(LockClientClosedException.class);
        });
    }
}
