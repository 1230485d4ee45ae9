package io.holdfast.cdi;

import static io.holdfast.cdi.LockedTest.held;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.holdfast.Lease;
import io.holdfast.LeaseLostException;
import io.holdfast.LockClient;
import io.holdfast.LockTimeoutException;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.inject.se.SeContainer;
import jakarta.inject.Inject;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BiConsumer;
import org.junit.jupiter.api.Test;

/** Methods whose work goes on after they have returned. */
class StageTest {

    private static final Duration LONG = Duration.ofSeconds(10);

    @ApplicationScoped
    static class Work {

        // Static: the fields of a client proxy are not those of the bean.
        static final AtomicInteger calls = new AtomicInteger();
        static volatile CompletableFuture<String> stage = new CompletableFuture<>();

        @Inject
        LockClient client;

        @Inject
        Blocking blocking;

        @Locked(name = "async", waitTime = "100ms")
        CompletableFuture<String> stage(Lease lease) {
            lease.ensureValid();
            calls.incrementAndGet();
            return stage;
        }

        @Locked(name = "async", waitTime = "unlimited")
        CompletableFuture<String> patient() {
            calls.incrementAndGet();
            return stage;
        }

        @Locked(name = "async", waitTime = "0", onBusy = OnBusy.SKIP)
        CompletionStage<String> skipped() {
            return stage;
        }

        @Locked("nesting")
        CompletionStage<List<String>> nests() {
            return CompletableFuture.completedFuture(blocking.again());
        }

        @Locked("failing")
        CompletionStage<String> fails() {
            throw new IllegalStateException("its own");
        }
    }

    @ApplicationScoped
    static class Blocking {

        @Inject
        LockClient client;

        @Locked(name = "nesting", waitTime = "0")
        List<String> again() {
            return held(client);
        }
    }

    @Test
    void a_stage_holds_the_lock_until_it_is_complete() {
        run("stage", (work, client) -> {
            CompletableFuture<String> result = work.stage(null);
            await().until(() -> !held(client).isEmpty());
            assertThat(result).isNotDone();
            assertThat(work.skipped().toCompletableFuture())
                    .succeedsWithin(LONG)
                    .isNull();
            assertThat(work.stage(null))
                    .failsWithin(LONG)
                    .withThrowableThat()
                    .havingCause()
                    .isInstanceOf(LockTimeoutException.class);
            Work.stage.complete("done");
            assertThat(result).succeedsWithin(LONG).isEqualTo("done");
            assertThat(held(client)).isEmpty();
            assertThat(Work.calls).hasValue(1);
        });
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
            assertThat(timed).failsWithin(LONG);
            await().untilAsserted(() ->
                    assertThat(client.localLocks().get(0).waiting()).isZero());
            other.release();
            await().until(() -> held(client).isEmpty());
            assertThat(client.tryAcquire("async")).isPresent().get().satisfies(Lease::release);
            assertThat(Work.calls).hasValue(0);
        });
    }

    @Test
    void a_stage_that_fails_or_is_cancelled_releases() {
        run("stages", (work, client) -> {
            CompletableFuture<String> failed = work.stage(null);
            await().until(() -> !held(client).isEmpty());
            Work.stage.completeExceptionally(new IllegalStateException("its own"));
            assertThatThrownBy(() -> failed.get(10, TimeUnit.SECONDS)).hasRootCauseMessage("its own");
            assertThat(held(client)).isEmpty();
            assertThatThrownBy(() -> work.fails().toCompletableFuture().get(10, TimeUnit.SECONDS))
                    .hasRootCauseMessage("its own");

            Work.stage = new CompletableFuture<>();
            CompletableFuture<String> cancelled = work.stage(null);
            await().until(() -> !held(client).isEmpty());
            await().until(() -> Work.calls.get() == 2);
            cancelled.cancel(true);
            await().until(() -> held(client).isEmpty());
            assertThat(Work.stage).isCancelled();
        });
    }

    @Test
    void a_loss_while_the_stage_runs_drops_its_result() {
        run("lost", (work, client) -> {
            CompletableFuture<String> result = work.stage(null);
            await().until(() -> Work.calls.get() == 1);
            assertThat(client.forceRelease("async")).isTrue();
            await().until(() -> held(client).isEmpty());
            Work.stage.complete("done");
            assertThat(result)
                    .failsWithin(LONG)
                    .withThrowableThat()
                    .havingCause()
                    .isInstanceOf(LeaseLostException.class);
        });
    }

    @Test
    void a_call_nested_in_the_method_needs_no_lock_that_the_stage_holds() {
        run(
                "nesting",
                (work, client) -> assertThat(work.nests().toCompletableFuture())
                        .succeedsWithin(LONG)
                        .isEqualTo(List.of("nesting")));
    }

    private static void run(String store, BiConsumer<Work, LockClient> test) {
        Work.calls.set(0);
        Work.stage = new CompletableFuture<>();
        try (SeContainer container = Containers.start("memory:stages-" + store, Work.class, Blocking.class)) {
            LockClient client = container.select(LockClient.class).get();
            test.accept(container.select(Work.class).get(), client);
            await().untilAsserted(() -> assertThat(client.localLocks()).isEmpty());
        }
    }
}
