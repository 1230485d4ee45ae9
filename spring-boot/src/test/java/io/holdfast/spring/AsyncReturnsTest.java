package io.holdfast.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.holdfast.Lease;
import io.holdfast.LeaseLostException;
import io.holdfast.LockClient;
import io.holdfast.LockTimeoutException;
import io.holdfast.spring.boot.Contexts;
import io.holdfast.spring.boot.LockClientCustomizer;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BiConsumer;
import org.junit.jupiter.api.Test;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/** Methods whose work goes on after they have returned. */
class AsyncReturnsTest {

    public static class Work {

        // Static: a proxy's own fields are not those of its target.
        static final AtomicInteger calls = new AtomicInteger();
        static volatile CompletableFuture<String> stage = new CompletableFuture<>();
        static volatile Sinks.Many<String> sink = Sinks.many().unicast().onBackpressureBuffer();

        @Locked(name = "async", waitTime = "100ms")
        public CompletableFuture<String> stage(Lease lease) {
            lease.ensureValid();
            calls.incrementAndGet();
            return stage;
        }

        @Locked(name = "place", waitTime = "100ms")
        public CompletableFuture<Thread> place() {
            return CompletableFuture.completedFuture(Thread.currentThread());
        }

        @Locked(name = "async", waitTime = "unlimited")
        public CompletableFuture<String> patient() {
            calls.incrementAndGet();
            return stage;
        }

        @Locked(name = "async", waitTime = "0", fallback = "foreignInstead")
        public CompletionStage<String> foreign() {
            calls.incrementAndGet();
            return stage;
        }

        CompletionStage<String> foreignInstead() {
            Foreign instead = new Foreign();
            instead.complete("instead");
            return instead;
        }

        @Locked(name = "async", waitTime = "0", onBusy = OnBusy.SKIP)
        public CompletionStage<String> skipped() {
            return stage;
        }

        @Locked(name = "async", waitTime = "0", fallback = "instead")
        public Mono<String> mono() {
            calls.incrementAndGet();
            return Mono.fromFuture(stage);
        }

        Mono<String> instead() {
            return Mono.just("instead");
        }

        @Locked(name = "async", waitTime = "0")
        public Flux<String> flux() {
            return sink.asFlux();
        }

        @Locked(name = "async", waitTime = "0", onBusy = OnBusy.SKIP)
        public Flux<String> skippedFlux() {
            return sink.asFlux();
        }
    }

    /** A stage of another library, which refuses in its own way. */
    static class Foreign extends CompletableFuture<String> {
        @Override
        public CompletableFuture<String> toCompletableFuture() {
            throw new IllegalStateException("not here");
        }
    }

    /** Delivers each outcome before the caller can see its stage, as happens now and then on its own. */
    @Configuration(proxyBeanMethods = false)
    static class DeliversFirst {
        @Bean
        LockClientCustomizer deliversFirst() {
            return builder -> builder.callbackExecutor(task -> {
                Thread thread = new Thread(task, "chosen");
                thread.start();
                try {
                    thread.join();
                } catch (InterruptedException e) {
                    throw new IllegalStateException(e);
                }
            });
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class Application {
        @Bean
        Work work() {
            return new Work();
        }
    }

    @Test
    void a_stage_holds_the_lock_until_it_is_complete() {
        run("stage", (work, client) -> {
            CompletableFuture<String> result = work.stage(null);
            await().until(() -> isHeld(client));
            assertThat(result).isNotDone();
            assertThat(work.skipped().toCompletableFuture())
                    .succeedsWithin(Duration.ofSeconds(10))
                    .isNull();
            assertThat(work.stage(null))
                    .failsWithin(Duration.ofSeconds(10))
                    .withThrowableThat()
                    .havingCause()
                    .isInstanceOf(LockTimeoutException.class);

            Work.stage.complete("done");
            assertThat(result).succeedsWithin(Duration.ofSeconds(10)).isEqualTo("done");
            assertThat(isHeld(client)).isFalse();
            assertThat(Work.calls).hasValue(1);
        });
    }

    @Test
    void the_method_runs_on_the_callback_executor_though_the_lock_is_there_already() {
        Contexts.memory("returns-place")
                .withUserConfiguration(Application.class, DeliversFirst.class)
                .run(context -> assertThat(context.getBean(Work.class).place())
                        .succeedsWithin(Duration.ofSeconds(10))
                        .extracting(Thread::getName)
                        .isEqualTo("chosen"));
    }

    @Test
    void a_stage_that_its_caller_ends_in_any_way_withdraws_the_wait() {
        run("ended", (work, client) -> {
            Lease other = client.tryAcquire("async").orElseThrow();
            CompletableFuture<String> timed = work.patient().orTimeout(10, TimeUnit.MILLISECONDS);
            CompletableFuture<String> valued = work.patient();
            CompletableFuture<String> failed = work.patient();
            valued.complete("its own");
            failed.completeExceptionally(new IllegalStateException("its own"));
            assertThat(timed).failsWithin(Duration.ofSeconds(10));
            await().untilAsserted(() ->
                    assertThat(client.localLocks().get(0).waiting()).isZero());
            other.release();
            assertThat(client.tryAcquire("async")).isPresent();
            assertThat(Work.calls).hasValue(0);
        });
    }

    @Test
    void a_stage_that_fails_or_is_cancelled_releases() {
        run("stages", (work, client) -> {
            CompletableFuture<String> failed = work.stage(null);
            await().until(() -> isHeld(client));
            Work.stage.completeExceptionally(new IllegalStateException("its own"));
            assertThatThrownBy(() -> failed.get(10, TimeUnit.SECONDS)).hasRootCauseMessage("its own");
            assertThat(isHeld(client)).isFalse();

            Work.stage = new CompletableFuture<>();
            CompletableFuture<String> cancelled = work.stage(null);
            await().until(() -> isHeld(client));
            cancelled.cancel(true);
            await().until(() -> !isHeld(client));
            assertThat(Work.stage).isCancelled();
        });
    }

    @Test
    void a_stage_that_refuses_to_be_a_future_holds_the_lock_until_it_is_complete() {
        run("foreign", (work, client) -> {
            Work.stage = new Foreign();
            CompletableFuture<String> result = work.foreign().toCompletableFuture();
            await().until(() -> Work.calls.get() == 1);
            // Busy still, and a fallback may return such a stage, too.
            assertThat(work.foreign().toCompletableFuture())
                    .succeedsWithin(Duration.ofSeconds(10))
                    .isEqualTo("instead");
            assertThat(isHeld(client)).isTrue();
            Work.stage.complete("done");
            assertThat(result).succeedsWithin(Duration.ofSeconds(10)).isEqualTo("done");
            assertThat(isHeld(client)).isFalse();
            assertThat(Work.calls).hasValue(1);
        });
    }

    @Test
    void a_loss_while_the_stage_runs_drops_its_result() {
        run("lost", (work, client) -> {
            CompletableFuture<String> result = work.stage(null);
            await().until(() -> isHeld(client));
            client.forceRelease("async");
            await().until(() -> !isHeld(client));
            Work.stage.complete("done");
            assertThat(result)
                    .failsWithin(Duration.ofSeconds(10))
                    .withThrowableThat()
                    .havingCause()
                    .isInstanceOf(LeaseLostException.class);
        });
    }

    @Test
    void a_mono_holds_the_lock_from_subscription_to_completion() {
        run("mono", (work, client) -> {
            Mono<String> mono = work.mono();
            assertThat(Work.calls).hasValue(0);
            CompletableFuture<String> result = mono.toFuture();
            await().until(() -> isHeld(client));
            assertThat(mono.block(Duration.ofSeconds(10))).isEqualTo("instead");
            Work.stage.complete("done");
            assertThat(result).succeedsWithin(Duration.ofSeconds(10)).isEqualTo("done");
            await().until(() -> !isHeld(client));

            // Each subscription is an acquisition of its own.
            assertThat(mono.block(Duration.ofSeconds(10))).isEqualTo("done");
            assertThat(Work.calls).hasValue(2);
        });
    }

    @Test
    void a_mono_that_is_cancelled_releases_and_a_lost_one_fails() {
        run("monos", (work, client) -> {
            Disposable cancelled = work.mono().subscribe();
            await().until(() -> isHeld(client));
            cancelled.dispose();
            await().until(() -> !isHeld(client));

            Work.stage = new CompletableFuture<>();
            CompletableFuture<String> lost = work.mono().toFuture();
            await().until(() -> isHeld(client));
            client.forceRelease("async");
            await().until(() -> !isHeld(client));
            Work.stage.complete("done");
            assertThat(lost)
                    .failsWithin(Duration.ofSeconds(10))
                    .withThrowableThat()
                    .havingCause()
                    .isInstanceOf(LeaseLostException.class);
        });
    }

    @Test
    void a_flux_holds_the_lock_until_its_last_element() {
        run("flux", (work, client) -> {
            List<String> seen = new CopyOnWriteArrayList<>();
            CompletableFuture<Void> done =
                    work.flux().doOnNext(seen::add).then().toFuture();
            await().until(() -> isHeld(client));
            Work.sink.tryEmitNext("a");
            Work.sink.tryEmitNext("b");
            await().until(() -> seen.equals(List.of("a", "b")));
            assertThat(isHeld(client)).isTrue();
            assertThat(work.skippedFlux().collectList().block(Duration.ofSeconds(10)))
                    .isEmpty();
            assertThatThrownBy(() -> work.flux().blockLast(Duration.ofSeconds(10)))
                    .isInstanceOf(LockTimeoutException.class);
            Work.sink.tryEmitComplete();
            assertThat(done).succeedsWithin(Duration.ofSeconds(10));
            await().until(() -> !isHeld(client));
        });
    }

    @Test
    void a_flux_that_fails_or_is_cancelled_releases() {
        run("fluxes", (work, client) -> {
            assertThat(work.flux()
                            .doOnSubscribe(s -> Work.sink.tryEmitNext("x"))
                            .blockFirst(Duration.ofSeconds(10)))
                    .isEqualTo("x");
            await().until(() -> !isHeld(client));
            Work.sink = Sinks.many().unicast().onBackpressureBuffer();
            Work.sink.tryEmitError(new IllegalStateException("its own"));
            assertThatThrownBy(() -> work.flux().blockLast(Duration.ofSeconds(10)))
                    .hasMessage("its own");
            await().until(() -> !isHeld(client));
        });
    }

    private static boolean isHeld(LockClient client) {
        return client.localLocks().stream().anyMatch(lock -> lock.lease().isPresent());
    }

    private static void run(String store, BiConsumer<Work, LockClient> test) {
        Work.calls.set(0);
        Work.stage = new CompletableFuture<>();
        Work.sink = Sinks.many().unicast().onBackpressureBuffer();
        Contexts.memory("returns-" + store)
                .withUserConfiguration(Application.class)
                .run(context -> {
                    assertThat(context).hasNotFailed();
                    test.accept(context.getBean(Work.class), context.getBean(LockClient.class));
                });
    }
}
