package io.holdfast.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.holdfast.Lease;
import io.holdfast.LockClient;
import io.holdfast.spring.boot.Contexts;
import io.holdfast.testkit.OverlapDetector;
import io.holdfast.testkit.servers.RedisServer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.task.TaskExecutionAutoConfiguration;
import org.springframework.boot.autoconfigure.task.TaskSchedulingAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.task.SimpleAsyncTaskExecutor;
import org.springframework.scheduling.annotation.Async;
import org.springframework.scheduling.annotation.EnableAsync;
import org.springframework.scheduling.annotation.EnableScheduling;
import org.springframework.scheduling.annotation.Scheduled;

/** {@code spring.threads.virtual.enabled}: many more waiters than carriers, on a real server. */
class VirtualThreadsTest {

    private static final int CALLS = 1_000;
    private static final int KEYS = 20;

    public static class Work {

        /** Of both instances: they share the resource. */
        static final Map<Integer, OverlapDetector> OVERLAPS = new ConcurrentHashMap<>();

        // Static: a proxy's own fields are not those of its target.
        static final AtomicInteger PLATFORM = new AtomicInteger();
        static final CountDownLatch SCHEDULED = new CountDownLatch(3);

        private final Nested nested;

        Work(Nested nested) {
            this.nested = nested;
        }

        @Locked(name = "virtual", key = "#key", waitTime = "120s")
        public void locked(int key, @Nullable Lease lease) throws InterruptedException {
            OverlapDetector overlap = OVERLAPS.computeIfAbsent(key, k -> new OverlapDetector("virtual:" + k));
            overlap.enter(lease.fencingToken());
            try {
                if (!isVirtual()) {
                    PLATFORM.incrementAndGet();
                }
                // Unmounts, so that the others come and queue up.
                Thread.sleep(1);
                // Another lock by the same thread, while it holds the first.
                nested.inner(key);
            } finally {
                overlap.leave();
            }
        }

        @Async
        @Locked(name = "async", waitTime = "60s")
        public CompletableFuture<Boolean> async() {
            return CompletableFuture.completedFuture(isVirtual());
        }

        @Scheduled(fixedDelay = 1)
        @Locked(name = "scheduled", waitTime = "0", onBusy = OnBusy.SKIP)
        public void scheduled() {
            if (isVirtual()) {
                SCHEDULED.countDown();
            }
        }
    }

    public static class Nested {
        @Locked(name = "nested", key = "#key")
        public void inner(int key) {}
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAsync(proxyTargetClass = true)
    @EnableScheduling
    static class Application {

        @Bean
        Nested nested() {
            return new Nested();
        }

        @Bean
        Work work(Nested nested) {
            return new Work(nested);
        }
    }

    @BeforeAll
    static void needsThem() {
        assumeTrue(
                Runtime.version().feature() >= 21,
                "Java " + Runtime.version().feature() + " has no virtual threads: run this with 21 or newer");
    }

    private static ApplicationContextRunner application(RedisServer server) {
        return Contexts.boot()
                .withConfiguration(AutoConfigurations.of(
                        TaskExecutionAutoConfiguration.class, TaskSchedulingAutoConfiguration.class))
                .withUserConfiguration(Application.class)
                .withPropertyValues("spring.threads.virtual.enabled=true", "spring.data.redis.url=" + server.uri());
    }

    @Test
    void a_thousand_calls_at_once_take_their_turns_in_two_instances() {
        try (RedisServer server = RedisServer.start()) {
            application(server)
                    .run(one -> application(server).run(other -> {
                        List<Work> instances = List.of(one.getBean(Work.class), other.getBean(Work.class));
                        SimpleAsyncTaskExecutor threads = new SimpleAsyncTaskExecutor("caller-");
                        threads.setVirtualThreads(true);
                        List<CompletableFuture<?>> calls = new ArrayList<>();
                        for (int i = 0; i < CALLS; i++) {
                            Work work = instances.get(i % 2);
                            int key = i / 2 % KEYS;
                            calls.add(threads.submitCompletable(() -> {
                                work.locked(key, null);
                                return true;
                            }));
                        }
                        CompletableFuture.allOf(calls.toArray(CompletableFuture[]::new))
                                .get(120, TimeUnit.SECONDS);
                        long entries = 0;
                        for (OverlapDetector overlap : Work.OVERLAPS.values()) {
                            overlap.assertClean();
                            entries += overlap.entries();
                        }
                        assertThat(Work.PLATFORM).hasValue(0);
                        assertThat(entries).isEqualTo(CALLS);
                        assertThat(one.getBean(LockClient.class).localLocks().stream()
                                        .filter(lock -> lock.name().startsWith("virtual")))
                                .isEmpty();
                    }));
        }
    }

    @Test
    void async_and_scheduled_methods_are_locked_on_virtual_threads() {
        try (RedisServer server = RedisServer.start()) {
            application(server).run(context -> {
                Work work = context.getBean(Work.class);
                List<CompletableFuture<Boolean>> calls = new ArrayList<>();
                for (int i = 0; i < 100; i++) {
                    calls.add(work.async());
                }
                for (CompletableFuture<Boolean> call : calls) {
                    assertThat(call.get(60, TimeUnit.SECONDS)).isTrue();
                }
                assertThat(Work.SCHEDULED.await(60, TimeUnit.SECONDS)).isTrue();
            });
        }
    }

    private static boolean isVirtual() {
        try {
            return (boolean) Thread.class.getMethod("isVirtual").invoke(Thread.currentThread());
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }
}
