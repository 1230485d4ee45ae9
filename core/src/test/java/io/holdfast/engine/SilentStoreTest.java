package io.holdfast.engine;

import static java.time.Duration.ofMillis;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.CardDetail;
import io.holdfast.Inside;
import io.holdfast.Lease;
import io.holdfast.LockClient;
import io.holdfast.LockListener;
import io.holdfast.LockOptions;
import io.holdfast.LockStoreException;
import io.holdfast.LockTimeoutException;
import io.holdfast.MultiLease;
import io.holdfast.engine.ProbeStore.Fate;
import io.holdfast.spi.StoreException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Rule 11: a store that answered nothing during a whole wait has failed, and does not make the name busy. */
class SilentStoreTest extends EngineFixture {

    private final LockClient other = client("other");

    // --- nothing was heard ---

    @Test
    void a_wait_without_an_answer_is_a_failure_of_the_store_in_each_staged_form() {
        store.acquires = Fate.REQUEST_HELD;
        Duration wait = ofMillis(500);
        List<CompletionStage<?>> stages = new ArrayList<>();
        stages.add(client.acquireAsync("a", wait));
        stages.add(client.tryAcquireAsync("b", wait));
        stages.add(client.callAsync("c", DEFAULTS.waitAtMost(wait), lease -> CompletableFuture.completedFuture(1)));
        stages.add(client.acquireAllAsync(List.of("d", "e"), DEFAULTS.waitAtMost(wait)));
        stages.add(client.tryAcquireAllAsync(List.of("f"), DEFAULTS.waitAtMost(wait)));
        advance(499);
        assertThat(stages).noneMatch(stage -> stage.toCompletableFuture().isDone());
        advance(1);
        stages.forEach(SilentStoreTest::assertSilent);
        store.deliverRequests();
    }

    /** As with a client of its own thread: the time passes while the caller waits. */
    @Test
    void so_it_is_in_each_blocking_form() {
        ProbeStore silent = probe("real");
        LockClient real = Inside.settings(LockClient.builder(), settings -> settings.cards = CardDetail.OFF)
                .store(silent)
                .build();
        try (real) {
            silent.acquires = Fate.REQUEST_HELD;
            Duration wait = ofMillis(150);
            LockOptions options = DEFAULTS.waitAtMost(wait);
            assertSilent(() -> real.acquire("a", wait).release());
            assertSilent(() -> real.tryAcquire("b", wait).ifPresent(Lease::release));
            assertSilent(() -> real.tryRun("c", wait, lease -> {}));
            assertSilent(() -> real.run("d", options, lease -> {}));
            assertSilent(() -> real.acquireAll(List.of("e", "f"), options).release());
            assertSilent(() -> real.tryAcquireAll(List.of("g"), options).ifPresent(MultiLease::release));
            assertSilent(() -> real.getLock("h").tryLock(150, TimeUnit.MILLISECONDS));
            silent.deliverRequests();
        }
    }

    @Test
    void so_it_is_for_several_names_by_one_command() {
        store.together = true;
        store.acquires = Fate.REQUEST_HELD;
        CompletableFuture<?> all = client.acquireAllAsync(List.of("a", "b"), DEFAULTS.waitAtMost(ofMillis(500)))
                .toCompletableFuture();
        CompletableFuture<?> one = client.tryAcquireAllAsync(List.of("c", "d"), DEFAULTS.waitAtMost(ofMillis(20)))
                .toCompletableFuture();
        advance(100);
        assertSilent(one);
        advance(400);
        assertSilent(all);
        store.deliverRequests();
    }

    @Test
    void of_several_names_the_one_that_is_waited_for_counts() {
        Lease held = now(acquire(other, "a"));
        store.details = true;
        CompletableFuture<?> all = client.acquireAllAsync(List.of("a", "b"), DEFAULTS.waitAtMost(ofSeconds(2)))
                .toCompletableFuture();
        advance(500);
        store.acquires = Fate.REQUEST_HELD;
        // The grant of "a" is pushed, so no command for "a" is needed.
        held.release();
        advance(1_500);
        assertThat(all).isCompletedExceptionally();
        assertThatThrownBy(all::join)
                .hasCauseInstanceOf(LockStoreException.class)
                .hasMessageContaining("whether the lock \"b\" is free");
        store.deliverRequests();
    }

    @Test
    void who_joins_a_command_that_is_not_answered_hears_as_little() {
        store.acquires = Fate.REQUEST_HELD;
        CompletableFuture<Lease> first = acquire(client, "a");
        advance(300);
        CompletableFuture<Optional<Lease>> joined =
                client.tryAcquireAsync("a", ofSeconds(1)).toCompletableFuture();
        CompletableFuture<Optional<Lease>> shortly =
                client.tryAcquireAsync("a", ofMillis(10)).toCompletableFuture();
        advance(10);
        assertSilent(shortly);
        advance(990);
        assertSilent(joined);
        store.deliverRequests();
        now(first).release();
    }

    @Test
    void who_joins_an_unanswered_poll_hears_as_little_though_the_name_was_busy_before() {
        Lease held = now(acquire(other, "a"));
        CompletableFuture<Lease> first = acquire(client, "a");
        store.acquires = Fate.REQUEST_HELD;
        advance(900);
        CompletableFuture<Lease> joined = acquire(client, "a", DEFAULTS.waitAtMost(ofSeconds(1)));
        advance(1_000);
        assertSilent(joined);
        first.cancel(false);
        store.deliverRequests();
        held.release();
    }

    /** The answer to the command for all of the names says nothing of this name. */
    @Test
    void a_command_that_was_busy_for_another_name_is_no_answer() {
        store.together = true;
        Lease held = now(acquire(other, "a"));
        store.acquires = Fate.REQUEST_HELD;
        CompletableFuture<Optional<MultiLease>> all =
                client.tryAcquireAllAsync(List.of("a", "b")).toCompletableFuture();
        CompletableFuture<Lease> joined = acquire(client, "b", DEFAULTS.waitAtMost(ofSeconds(1)));
        advance(500);
        store.deliverRequests();
        assertThat(all).isCompletedWithValue(Optional.empty());
        advance(500);
        assertSilent(joined);
        store.deliverRequests();
        held.release();
    }

    @Test
    void the_listener_hears_of_a_failure_and_not_of_a_busy_lock() {
        List<String> told = new ArrayList<>();
        ProbeStore silent = probe("told");
        LockClient listened = client(
                "told",
                silent,
                settings -> settings.listeners = List.of(new LockListener() {
                    @Override
                    public void notAcquired(String name, Duration waited, Outcome outcome, String why) {
                        told.add(name + " " + outcome + " after " + waited.toMillis() + " ms");
                    }
                }));
        silent.acquires = Fate.REQUEST_HELD;
        assertThat(acquire(listened, "a", DEFAULTS.waitAtMost(ofMillis(200)))).isNotDone();
        advance(200);
        assertThat(told).containsExactly("a FAILED after 200 ms");
        silent.deliverRequests();
    }

    // --- a wait below 100 ms ---

    @Test
    void the_first_command_of_a_short_wait_has_100_ms() {
        store.acquires = Fate.REQUEST_HELD;
        CompletableFuture<Lease> waiting = acquire(client, "a", DEFAULTS.waitAtMost(ofMillis(1)));
        advance(99);
        assertThat(waiting).isNotDone();
        advance(1);
        assertSilent(waiting);
        store.deliverRequests();
    }

    /** In a history of the simulation (seed 3627), such a wait of 24 ms lasted 128 ms. */
    @Test
    void a_second_command_of_a_short_wait_does_not_get_more() {
        store.together = true;
        Lease held = now(acquire(other, "a"));
        store.acquires = Fate.REQUEST_HELD;
        CompletableFuture<Optional<MultiLease>> all =
                client.tryAcquireAllAsync(List.of("a", "b")).toCompletableFuture();
        CompletableFuture<Lease> joined = acquire(client, "b", DEFAULTS.waitAtMost(ofMillis(24)));
        advance(50);
        store.deliverRequests();
        assertThat(all).isCompletedWithValue(Optional.empty());
        advance(73);
        assertThat(joined).isNotDone();
        advance(1);
        assertSilent(joined);
        store.deliverRequests();
        held.release();
    }

    @Test
    void an_answer_within_that_time_counts() {
        store.acquires = Fate.REQUEST_HELD;
        CompletableFuture<Lease> granted = acquire(client, "a", DEFAULTS.waitAtMost(ofMillis(5)));
        CompletableFuture<Lease> second = acquire(client, "a", DEFAULTS.waitAtMost(ofMillis(5)));
        Lease held = now(acquire(other, "b"));
        CompletableFuture<Lease> busy = acquire(client, "b", DEFAULTS.waitAtMost(ofMillis(5)));
        advance(60);
        store.deliverRequests();

        now(granted).release();
        assertThatThrownBy(second::join)
                .hasCauseInstanceOf(LockTimeoutException.class)
                .hasMessageContaining("a");
        assertThatThrownBy(busy::join)
                .hasCauseInstanceOf(LockTimeoutException.class)
                .hasMessageContaining("was held by others for 5 ms, last by \"other:1\"");
        held.release();
    }

    @Test
    void an_error_within_that_time_counts() {
        store.acquires = Fate.REQUEST_FAILS;
        store.failure = new StoreException(StoreException.Outcome.UNKNOWN, "store: broken pipe", null);
        CompletableFuture<Lease> waiting = acquire(client, "a", DEFAULTS.waitAtMost(ofMillis(5)));
        advance(50);
        store.deliverRequests();
        assertThatThrownBy(waiting::join)
                .hasCauseInstanceOf(LockStoreException.class)
                .hasMessageContaining("broken pipe");
    }

    @Test
    void a_short_wait_whose_command_was_answered_ends_in_time() {
        Lease held = now(acquire(other, "a"));
        CompletableFuture<Lease> waiting = acquire(client, "a", DEFAULTS.waitAtMost(ofMillis(5)));
        advance(5);
        assertThat(waiting).isCompletedExceptionally();
        held.release();
    }

    /** The command for both names is answered when the short wait is over: nothing was taken, since "b" is busy. */
    @Test
    void a_command_for_several_names_that_takes_nothing_is_no_silence() {
        Lease held = now(acquire(other, "b"));
        store.acquires = Fate.REPLY_HELD;
        CompletableFuture<Optional<MultiLease>> several =
                client.tryAcquireAllAsync(List.of("a", "b"), ofSeconds(10)).toCompletableFuture();
        CompletableFuture<Lease> brief = acquire(client, "a", DEFAULTS.waitAtMost(ofMillis(10)));
        advance(20);
        assertThat(brief).isNotDone();
        store.deliverReplies();
        assertThatThrownBy(brief::join).hasCauseInstanceOf(LockTimeoutException.class);
        several.cancel(false);
        store.acquires = Fate.PASS;
        store.deliverReplies();
        held.release();
    }

    @Test
    void a_wait_of_zero_is_one_attempt_that_waits_for_its_answer() {
        store.acquires = Fate.REQUEST_HELD;
        CompletableFuture<Optional<Lease>> attempt =
                client.tryAcquireAsync("a", Duration.ZERO).toCompletableFuture();
        advance(2_000);
        assertThat(attempt).isNotDone();
        // Not longer than a round trip: the other attempt may be answered at any time.
        store.deliverRequests();
        assertThat(attempt).isCompleted();
        attempt.join().orElseThrow().release();
    }

    @Test
    void an_attempt_beside_one_that_is_not_answered_finds_the_name_in_use() {
        store.acquires = Fate.REQUEST_HELD;
        CompletableFuture<Lease> first = acquire(client, "a");
        advance(1_000);
        // Not a failure of the store: on a busy machine an answer may wait for a thread that handles it.
        assertThat(client.tryAcquireAsync("a").toCompletableFuture()).isCompletedWithValue(Optional.empty());
        store.deliverRequests();
        now(first).release();
    }

    // --- something was heard ---

    @Test
    void a_hold_of_this_client_is_no_silence() {
        Lease held = now(acquire(client, "a"));
        store.acquires = Fate.REQUEST_HELD;
        store.renews = Fate.REQUEST_HELD;
        CompletableFuture<Lease> waiting = acquire(client, "a", DEFAULTS.waitAtMost(ofMillis(500)));
        advance(500);
        assertThatThrownBy(waiting::join)
                .hasCauseInstanceOf(LockTimeoutException.class)
                .hasMessageContaining("was held by others for 500 ms");
        held.release();
    }

    @Test
    void who_joins_a_queued_attempt_hears_nothing_because_nothing_is_asked() {
        Lease held = now(acquire(other, "a"));
        CompletableFuture<Lease> first = acquire(client, "a");
        store.acquires = Fate.REQUEST_HELD;
        CompletableFuture<Lease> joined = acquire(client, "a", DEFAULTS.waitAtMost(ofMillis(200)));
        advance(200);
        assertThatThrownBy(joined::join)
                .hasCauseInstanceOf(LockTimeoutException.class)
                .hasMessageContaining("was held by others for 200 ms, last by \"other:1\"");
        first.cancel(false);
        store.deliverRequests();
        held.release();
    }

    @Test
    void busy_and_then_silence_says_who_held_and_since_when_nothing_was_heard() {
        Lease held = now(acquire(other, "a"));
        CompletableFuture<Lease> waiting = acquire(client, "a", DEFAULTS.waitAtMost(ofSeconds(3)));
        advance(1_000);
        store.acquires = Fate.REQUEST_HELD;
        advance(2_000);
        assertThatThrownBy(waiting::join)
                .hasCauseInstanceOf(LockTimeoutException.class)
                .hasMessageFindingMatch("was held by others, last by \"other:1\", and the store has not answered for"
                        + " the last 2\\.\\d+ s$");
        store.deliverRequests();
        held.release();
    }

    @Test
    void a_hold_of_this_client_and_then_silence_does_too() {
        Lease held = now(acquire(client, "a"));
        CompletableFuture<Lease> waiting = acquire(client, "a", DEFAULTS.waitAtMost(ofSeconds(1)));
        advance(400);
        store.acquires = Fate.REQUEST_HELD;
        held.releaseHoldingAtLeast(ofSeconds(2));
        advance(600);
        assertThatThrownBy(waiting::join)
                .hasCauseInstanceOf(LockTimeoutException.class)
                .hasMessageContaining("was held by others, and the store has not answered for the last 600 ms");
        store.deliverRequests();
    }

    private static void assertSilent(CompletionStage<?> stage) {
        assertThat(stage.toCompletableFuture()).isCompletedExceptionally();
        assertThatThrownBy(stage.toCompletableFuture()::join)
                .hasCauseInstanceOf(LockStoreException.class)
                .hasMessageContaining(" did not answer within ");
    }

    private static void assertSilent(org.assertj.core.api.ThrowableAssert.ThrowingCallable call) {
        assertThatThrownBy(call)
                .isInstanceOf(LockStoreException.class)
                .hasMessageMatching("probe did not answer within [0-9]+ ms whether the lock .*");
    }
}
