package io.holdfast.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.holdfast.Lease;
import io.holdfast.LockClient;
import io.holdfast.LockTimeoutException;
import io.holdfast.spring.boot.Contexts;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.springframework.context.annotation.Configuration;
import org.springframework.scheduling.annotation.Async;
import org.springframework.scheduling.annotation.EnableAsync;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/** Limited methods whose work goes on after they have returned; some hold a lock besides. */
class LimitedAsyncTest {

    public static class Work {

        private final LockTemplate template;

        Work(LockTemplate template) {
            this.template = template;
        }

        @Limited(name = "work", permits = "1", waitTime = "100ms")
        public CompletableFuture<String> stage(CompletableFuture<String> work) {
            return work;
        }

        @Limited(name = "work", permits = "1", waitTime = "unlimited")
        public CompletableFuture<String> patient() {
            return CompletableFuture.completedFuture("ran");
        }

        /** Under the lock and the permit, as nested calls on the same thread see them. */
        @Limited(name = "work", permits = "1", waitTime = "100ms")
        @Locked(name = "work", waitTime = "100ms")
        public CompletableFuture<String> both(Lease lease, CompletableFuture<String> work) {
            return nested(lease, work);
        }

        @Async
        @Limited(name = "work", permits = "1", waitTime = "100ms")
        @Locked(name = "work", waitTime = "100ms")
        public CompletableFuture<String> asynchronous(Lease lease, CompletableFuture<String> work) {
            return nested(lease, work);
        }

        private CompletableFuture<String> nested(Lease lease, CompletableFuture<String> work) {
            assertThat(lease.isExclusive()).isTrue();
            assertThat(template.tryExecute("work", same -> {})).isTrue();
            assertThat(template.withPermits(1).tryExecute("work", same -> {})).isTrue();
            return work;
        }

        @Limited(name = "work", permits = "1", waitTime = "0", fallback = "instead")
        @Locked(name = "work", waitTime = "0")
        public Mono<String> mono(CompletableFuture<String> work) {
            return Mono.fromFuture(work);
        }

        Mono<String> instead() {
            return Mono.just("instead");
        }

        @Limited(name = "work", permits = "1", waitTime = "0")
        public Flux<String> flux(Sinks.Many<String> sink) {
            return sink.asFlux();
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAsync(proxyTargetClass = true)
    static class Asynchronous {}

    @Test
    void a_permit_is_held_until_the_stage_completes() {
        run("stage", (work, other) -> {
            CompletableFuture<String> ends = new CompletableFuture<>();
            CompletableFuture<String> running = work.stage(ends);
            await().until(() -> !isFree(other));
            assertThatThrownBy(() -> work.stage(ends).join())
                    .isInstanceOf(CompletionException.class)
                    .hasCauseInstanceOf(LockTimeoutException.class);
            CompletableFuture<String> withdrawn = work.patient();
            withdrawn.cancel(true);
            ends.complete("done");
            assertThat(running.get(30, TimeUnit.SECONDS)).isEqualTo("done");
            assertThat(isFree(other)).isTrue();
        });
    }

    @Test
    void a_stage_is_under_its_lock_and_its_permit_and_so_is_what_its_method_calls() {
        run("both", (work, other) -> {
            CompletableFuture<String> ends = new CompletableFuture<>();
            CompletableFuture<String> running = work.both(null, ends);
            await().until(() -> !isFree(other));
            assertThat(other.inspect("work").isLocked()).isTrue();
            ends.complete("done");
            assertThat(running.get(30, TimeUnit.SECONDS)).isEqualTo("done");
            assertThat(other.inspect("work").isLocked()).isFalse();
            assertThat(isFree(other)).isTrue();
        });
    }

    @Test
    void on_the_executor_of_async_it_is_under_both_too() {
        run("async", (work, other) -> {
            CompletableFuture<String> ends = new CompletableFuture<>();
            CompletableFuture<String> running = work.asynchronous(null, ends);
            await().until(() -> !isFree(other));
            assertThat(other.inspect("work").isLocked()).isTrue();
            ends.complete("done");
            assertThat(running.get(30, TimeUnit.SECONDS)).isEqualTo("done");
            await().until(() -> !other.inspect("work").isLocked() && isFree(other));
        });
    }

    @Test
    void a_stage_that_gets_no_permit_gives_its_lock_back() {
        run("timeout", (work, other) -> {
            try (Lease permit = other.permits("work", 1).acquire()) {
                assertThatThrownBy(
                                () -> work.both(null, new CompletableFuture<>()).get(30, TimeUnit.SECONDS))
                        .hasCauseInstanceOf(LockTimeoutException.class)
                        .hasMessageContaining("(limit 1, weight 1)");
                assertThat(other.inspect("work").isLocked()).isFalse();
                assertThat(permit.isValid()).isTrue();
            }
        });
    }

    @Test
    void a_cancelled_stage_is_passed_on_and_gives_everything_back() {
        run("cancelled", (work, other) -> {
            CompletableFuture<String> never = new CompletableFuture<>();
            CompletableFuture<String> running = work.both(null, never);
            await().until(() -> !isFree(other));
            running.cancel(true);
            await().until(() -> never.isCancelled() && !other.inspect("work").isLocked() && isFree(other));
        });
    }

    /** A cancel that comes together with the grant leaves nothing behind. */
    @Test
    void whenever_a_wait_is_cancelled_no_permit_stays_taken() {
        run("race", (work, other) -> {
            for (int i = 0; i < 100; i++) {
                CompletableFuture<String> waiting;
                try (Lease permit = other.permits("work", 1).acquire(Duration.ofSeconds(30))) {
                    waiting = work.patient();
                    permit.release();
                }
                waiting.cancel(true);
            }
            await().until(() -> isFree(other));
        });
    }

    @Test
    void a_publisher_is_under_its_lock_and_its_permit() {
        run("mono", (work, other) -> {
            CompletableFuture<String> ends = new CompletableFuture<>();
            Mono<String> mono = work.mono(ends);
            assertThat(isFree(other)).isTrue();
            CompletableFuture<String> running = mono.toFuture();
            await().until(() -> !isFree(other));
            assertThat(other.inspect("work").isLocked()).isTrue();
            ends.complete("done");
            assertThat(running.get(30, TimeUnit.SECONDS)).isEqualTo("done");
            assertThat(other.inspect("work").isLocked()).isFalse();
            try (Lease permit = other.permits("work", 1).acquire()) {
                assertThat(mono.block()).isEqualTo("instead");
                assertThat(other.inspect("work").isLocked()).isFalse();
                assertThat(permit.isValid()).isTrue();
            }
        });
    }

    @Test
    void a_cancelled_subscription_gives_its_permit_back() {
        run("flux", (work, other) -> {
            Disposable running =
                    work.flux(Sinks.many().unicast().onBackpressureBuffer()).subscribe();
            await().until(() -> !isFree(other));
            running.dispose();
            await().until(() -> isFree(other));
        });
    }

    private static boolean isFree(LockClient other) {
        return other.permits("work", 1)
                .tryAcquire()
                .map(permit -> {
                    permit.release();
                    return true;
                })
                .orElse(false);
    }

    /** Receives another client on the same store. */
    @FunctionalInterface
    private interface Body {
        void accept(Work work, LockClient other) throws Exception;
    }

    private static void run(String store, Body test) {
        Contexts.memory("limited-async-" + store)
                .withUserConfiguration(Asynchronous.class)
                .withBean(Work.class)
                .run(context -> {
                    assertThat(context).hasNotFailed();
                    try (LockClient other = LockClient.connect("memory:limited-async-" + store)) {
                        test.accept(context.getBean(Work.class), other);
                    }
                });
    }
}
