package io.holdfast;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.engine.CallbackStage;
import io.holdfast.engine.EngineFixture;
import io.holdfast.engine.ProbeStore.Fate;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.junit.jupiter.api.Test;

/** Forms that take a task: they release the lease in any case. */
class LambdaFormsTest extends EngineFixture {

    final LockClient other = client("other");

    @Test
    void a_task_runs_under_the_lock() throws Exception {
        client.run("a", lease -> events.add("locked " + other.inspect("a").isLocked()));
        assertThat(events).containsExactly("locked true");
        assertThat(client.call("a", Lease::fencingToken)).isPositive();
        assertThat(client.call("a", DEFAULTS, Lease::name)).isEqualTo("a");
        assertThat(other.inspect("a").isLocked()).isFalse();
    }

    @Test
    void a_checked_exception_passes_through() {
        assertThatThrownBy(() -> client.runChecked("a", lease -> {
                    throw new IOException("the user's");
                }))
                .isInstanceOf(IOException.class);
        assertThatThrownBy(() -> client.callChecked("a", lease -> {
                    throw new IOException("the user's");
                }))
                .isInstanceOf(IOException.class);
        assertThat(other.inspect("a").isLocked()).isFalse();
    }

    @Test
    void a_lost_lease_is_thrown_after_the_task() {
        assertThatThrownBy(() -> client.run("a", lease -> other.forceRelease("a")))
                .isInstanceOf(LeaseLostException.class);
    }

    @Test
    void a_task_is_tried() throws Exception {
        assertThat(client.tryRun("a", lease -> events.add("ran"))).isTrue();
        Lease held = now(acquire(other, "a"));
        assertThat(client.tryRun("a", lease -> events.add("ran, too"))).isFalse();
        assertThat(client.tryRun("a", Duration.ZERO, lease -> events.add("ran, too")))
                .isFalse();
        assertThat(client.tryRun("a", DEFAULTS, lease -> events.add("ran, too")))
                .isFalse();
        held.release();
        assertThat(events).containsExactly("ran");
        Duration brief = Duration.ofSeconds(1);
        assertThat(client.tryRun(
                        "a",
                        DEFAULTS.leaseFor(brief),
                        lease -> events.add("brief " + (lease.remaining().compareTo(brief) < 0))))
                .isTrue();
        assertThat(events).containsExactly("ran", "brief true");
        assertThatThrownBy(() -> client.tryRun("a", lease -> {
                    throw new IllegalStateException("the user's");
                }))
                .isInstanceOf(IllegalStateException.class);
        assertThat(other.inspect("a").isLocked()).isFalse();
    }

    @Test
    void a_wait_is_given_as_a_duration() throws Exception {
        try (Lease lease = client.acquire("a", Duration.ZERO)) {
            assertThat(lease.isValid()).isTrue();
            assertThatThrownBy(() -> other.acquire("a", Duration.ZERO)).isInstanceOf(LockTimeoutException.class);
            assertThat(other.tryAcquire("a", Duration.ZERO)).isEmpty();
            assertThat(other.tryAcquireAsync("a").toCompletableFuture().join()).isEmpty();
            assertThat(other.tryAcquireAll(List.of("a", "b"))).isEmpty();
        }
        client.acquireAll(List.of("a", "b")).close();
    }

    @Test
    void a_stage_keeps_the_lock_until_it_ends() {
        CompletableFuture<String> work = new CompletableFuture<>();
        CompletableFuture<String> outcome = client.callAsync("a", lease -> work).toCompletableFuture();
        advance(LEASE.toMillis());
        assertThat(other.inspect("a").isLocked()).isTrue();
        assertThat(outcome).isNotDone();

        work.complete("done");
        assertThat(outcome).isCompletedWithValue("done");
        assertThat(other.inspect("a").isLocked()).isFalse();
    }

    @Test
    void a_stage_that_fails_releases_the_lock() {
        IOException failure = new IOException("the user's");
        assertThatThrownBy(client.callAsync("a", lease -> CompletableFuture.failedFuture(failure))
                        .toCompletableFuture()::join)
                .isInstanceOf(CompletionException.class)
                .hasCause(failure);
        assertThatThrownBy(client.<String>callAsync("a", lease -> {
                            throw new IllegalStateException("the user's");
                        })
                        .toCompletableFuture()::join)
                .hasCauseInstanceOf(IllegalStateException.class);
        assertThat(other.inspect("a").isLocked()).isFalse();
    }

    @Test
    void a_stage_whose_lease_is_lost_fails() {
        CompletableFuture<String> work = new CompletableFuture<>();
        CompletableFuture<String> outcome = client.callAsync("a", lease -> work).toCompletableFuture();
        other.forceRelease("a");
        advance(LEASE.toMillis());
        work.complete("done");
        assertThatThrownBy(outcome::join).hasCauseInstanceOf(LeaseLostException.class);
    }

    @Test
    void a_stage_that_its_caller_ends_withdraws_the_wait() {
        Lease held = now(acquire(other, "a"));
        CompletableFuture<String> outcome = client.callAsync("a", lease -> {
                    events.add("began");
                    return CompletableFuture.completedFuture("done");
                })
                .toCompletableFuture();
        outcome.cancel(false);
        held.release();
        advance(LEASE.toMillis());
        assertThat(events).isEmpty();
        assertThat(other.inspect("a").isLocked()).isFalse();
    }

    @Test
    void dependents_of_a_stage_run_on_the_callback_executor() {
        CompletableFuture<String> outcome =
                client.callAsync("a", lease -> new CompletableFuture<String>()).toCompletableFuture();
        assertThat(outcome.defaultExecutor()).isNotSameAs(new CompletableFuture<>().defaultExecutor());
        assertThat(outcome).isInstanceOf(CallbackStage.class);
        outcome.cancel(false);
    }

    @Test
    void a_stage_of_a_closed_client_fails() {
        client.close();
        assertThatThrownBy(client.callAsync("a", lease -> CompletableFuture.completedFuture("x"))
                        .toCompletableFuture()::join)
                .hasCauseInstanceOf(LockClientClosedException.class);
    }

    @Test
    void a_timeout_says_what_was_waited_for() {
        Lease held = now(acquire(other, "a"));
        CompletableFuture<Lease> waiting = acquire(client, "a", DEFAULTS.waitAtMost(Duration.ofSeconds(2)));
        advance(2_000);
        assertThatThrownBy(waiting::join).cause().isInstanceOfSatisfying(LockTimeoutException.class, e -> {
            assertThat(e.lockNames()).containsExactly("a");
            assertThat(e.waited()).isBetween(Duration.ofSeconds(2), Duration.ofSeconds(3));
            assertThat(e.holder())
                    .hasValueSatisfying(holder -> assertThat(holder).startsWith("other:"));
        });
        assertThatThrownBy(() -> client.acquire("a", Duration.ZERO))
                .isInstanceOfSatisfying(
                        LockTimeoutException.class,
                        e -> assertThat(e.holder())
                                .hasValueSatisfying(holder -> assertThat(holder).startsWith("other:")));
        held.release();
    }

    @Test
    void a_store_failure_names_the_store() {
        store.acquires = Fate.FAIL;
        assertThatThrownBy(() -> client.tryAcquire("a"))
                .isInstanceOfSatisfying(
                        LockStoreException.class, e -> assertThat(e.store()).isEqualTo(client.describeStore()));
        store.acquires = Fate.PASS;
    }
}
