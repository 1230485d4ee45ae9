package io.holdfast.engine;

import static java.time.Duration.ofHours;
import static java.time.Duration.ofMillis;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.Inside;
import io.holdfast.Lease;
import io.holdfast.LockClient;
import io.holdfast.LockStoreException;
import io.holdfast.LockTimeoutException;
import io.holdfast.engine.ProbeStore.Fate;
import io.holdfast.spi.AcquireReply;
import io.holdfast.spi.AcquireRequest;
import io.holdfast.spi.LockStore;
import io.holdfast.spi.StoreContext;
import io.holdfast.spi.StoreException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Rules 4, 5, 10, 11 and 13 for one attempt at the store: what crosses, what fails, and what is found in the way. */
class AttemptTest extends EngineFixture {

    final LockClient other = client("other");

    @Test
    void an_acquire_given_up_on_its_way_whose_outcome_stays_unknown_is_withdrawn_once_more() {
        List<CompletableFuture<AcquireReply>> unanswered = new ArrayList<>();
        ProbeStore slow = answering("slow", request -> {
            CompletableFuture<AcquireReply> reply = new CompletableFuture<>();
            unanswered.add(reply);
            return reply;
        });
        acquire(client("slow", slow, settings -> {}), "a").cancel(false);
        assertThat(slow.count("abandon")).isEqualTo(1);
        unanswered.get(0).completeExceptionally(new StoreException(StoreException.Outcome.UNKNOWN, "no answer", null));

        assertThat(slow.count("abandon")).isEqualTo(2);
    }

    /** A store may take several steps to queue. */
    @Test
    void an_acquire_that_queues_after_it_was_given_up_leaves_nothing_in_the_queue() {
        Lease held = now(acquire(other, "a"));
        store.acquires = Fate.REQUEST_HELD;
        acquire(client, "a").cancel(false);
        store.deliverRequests();
        assertThat(other.inspect("a").waitingClients()).isZero();
        held.release();
        assertThat(server.size()).isZero();
    }

    @ParameterizedTest
    @ValueSource(strings = {"queues", "is granted the lock", "has no outcome"})
    void a_close_waits_until_the_last_acquire_that_was_given_up_is_answered_and_withdrawn(String what) {
        CompletableFuture<Lease> held = what.equals("queues") ? acquire(other, "a") : new CompletableFuture<>();
        store.acquires = what.equals("has no outcome") ? Fate.REQUEST_FAILS : Fate.REQUEST_HELD;
        store.failure = new StoreException(StoreException.Outcome.UNKNOWN, "no answer", null);
        acquire(client, "a").cancel(false);
        CompletableFuture<Void> closed = Inside.engine(client).closeAsync().toCompletableFuture();
        assertThat(closed).isNotDone();
        store.abandons = Fate.REQUEST_HELD;
        store.deliverRequests();
        assertThat(closed).isNotDone();
        store.deliverRequests();

        assertThat(closed).isDone();
        assertThat(other.inspect("a").waitingClients()).isZero();
        if (what.equals("queues")) {
            now(held).release();
        }
        assertThat(server.size()).isZero();
    }

    @Test
    void a_close_waits_for_the_answer_to_a_command_for_several_names_that_was_given_up() {
        store.together = true;
        store.acquires = Fate.REQUEST_HELD;
        var unused =
                client.acquireAllAsync(List.of("a", "b")).toCompletableFuture().cancel(false);
        CompletableFuture<Void> closed = Inside.engine(client).closeAsync().toCompletableFuture();
        assertThat(closed).isNotDone();
        store.deliverRequests();

        assertThat(closed).isDone();
        assertThat(server.size()).isZero();
    }

    @Test
    void an_acquire_executed_after_its_withdrawal_was_confirmed_is_withdrawn_when_none_can_be_executed_any_more() {
        LockClient late = client("late", executingLate(2_000), settings -> {});
        CompletableFuture<Lease> gone =
                acquire(late, "a", DEFAULTS.waitAtMost(Duration.ZERO).leaseFor(ofSeconds(60)));
        assertThat(gone).isCompletedExceptionally();
        advance(2_100);
        assertThat(other.tryAcquire("a")).isEmpty();
        advance(3_000);

        assertThat(other.tryAcquire("a")).isPresent();
    }

    @Test
    void an_acquire_executed_after_the_release_of_its_hold_is_withdrawn_when_none_can_be_executed_any_more() {
        ProbeStore slow = executingLate(2_000);
        LockClient late = client("late", slow, settings -> {});
        CompletableFuture<Lease> lease = acquire(late, "a", DEFAULTS.leaseFor(ofSeconds(60)));
        assertThat(lease).isNotDone();
        advance(100);
        now(lease).release();
        now(acquire(other, "a")).release();
        advance(2_000);
        assertThat(other.tryAcquire("a")).isEmpty();
        advance(3_000);

        assertThat(other.tryAcquire("a")).isPresent();
    }

    @Test
    void a_hold_in_use_is_not_withdrawn_although_one_of_its_acquires_had_no_outcome() {
        LockClient late = client("late", executingLate(2_000), settings -> {});
        CompletableFuture<Lease> lease = acquire(late, "a");
        advance(30_000);
        assertThat(now(lease).isValid()).isTrue();
    }

    @Test
    void a_hold_that_was_kept_on_purpose_is_not_withdrawn_although_one_of_its_acquires_had_no_outcome() {
        LockClient late = client("late", executingLate(2_000), settings -> {});
        CompletableFuture<Lease> lease = acquire(late, "a");
        advance(100);
        now(lease).releaseHoldingAtLeast(ofSeconds(10));
        advance(9_000);
        assertThat(other.tryAcquire("a")).isEmpty();
    }

    @Test
    void however_often_the_acquires_of_an_id_fail_it_is_looked_for_once_after_the_last() {
        store.failure = new StoreException(StoreException.Outcome.UNKNOWN, "cut off", null);
        store.acquires = Fate.FAIL;
        CompletableFuture<Lease> waiting = acquire(client, "a", DEFAULTS.waitAtMost(ofSeconds(4)));
        advance(3_000);
        assertThat(store.count("acquire")).isGreaterThan(3);
        // The wait's end, the next poll, the look for what came late, and the look at long waits.
        assertThat(time.pending()).isEqualTo(4);
        advance(1_001);
        assertThat(waiting).isCompletedExceptionally();
        assertThat(store.count("abandon")).isEqualTo(1);
        advance(10_000);
        assertThat(store.count("abandon")).isEqualTo(2);
    }

    /** Of its acquires the first fails, its outcome being unknown, and is executed later. */
    private ProbeStore executingLate(long millis) {
        LockStore behind = server.connect(new StoreContext("late", time));
        boolean[] failed = new boolean[1];
        return new ProbeStore(new ForwardingStore(behind) {
            @Override
            public CompletionStage<AcquireReply> acquire(AcquireRequest request) {
                if (failed[0]) {
                    return behind.acquire(request);
                }
                failed[0] = true;
                time.schedule(millis * 1_000_000, () -> behind.acquire(request));
                return CompletableFuture.failedFuture(
                        new StoreException(StoreException.Outcome.UNKNOWN, "cut off", null));
            }
        });
    }

    @Test
    void one_attempt_whose_grant_comes_too_late_ends_with_it() {
        store.acquires = Fate.REPLY_HELD;
        CompletableFuture<Lease> once =
                acquire(client, "a", DEFAULTS.waitAtMost(Duration.ZERO).leaseFor(Duration.ofMillis(100)));
        advance(200);
        store.deliverReplies();

        // Not busy, and not asked again: every further answer may be as late.
        assertThat(once)
                .failsWithin(Duration.ZERO)
                .withThrowableOfType(ExecutionException.class)
                .withCauseInstanceOf(LockStoreException.class)
                .withMessageContaining("when that time was over");
        assertThat(store.count("acquire")).isEqualTo(1);
    }

    @Test
    void a_wait_for_a_lease_that_is_shorter_than_the_answers_take_ends_with_an_error_and_not_never() {
        store.acquires = Fate.REPLY_HELD;
        CompletableFuture<Lease> hopeless = acquire(client, "a", DEFAULTS.leaseFor(Duration.ofMillis(100)));
        CompletableFuture<Lease> behind = acquire(client, "a");
        for (int i = 0; i < 30 && !behind.isDone(); i++) {
            advance(200);
            store.deliverReplies();
        }

        assertThat(hopeless).isDone();
        assertThatThrownBy(hopeless::join)
                .hasCauseInstanceOf(LockStoreException.class)
                .hasMessageContaining("a lease that is much longer than the store takes to answer");
        now(behind).release();
    }

    @Test
    void who_waits_behind_such_a_lease_has_the_whole_time_of_a_store_that_fails() {
        store.acquires = Fate.REPLY_HELD;
        CompletableFuture<Lease> hopeless = acquire(client, "a", DEFAULTS.leaseFor(Duration.ofMillis(100)));
        CompletableFuture<Lease> behind = acquire(client, "a");
        for (int i = 0; i < 25; i++) {
            advance(200);
            store.deliverReplies();
        }
        assertThat(hopeless).isNotDone();
        store.acquires = Fate.FAIL;
        advance(200);
        store.deliverReplies();
        assertThat(hopeless).isCompletedExceptionally();
        assertThat(behind).isNotDone();
        store.acquires = Fate.PASS;
        advance(1_000);

        now(behind).release();
    }

    @Test
    void a_grant_that_overtakes_the_answer_busy_is_not_forgotten() {
        Lease held = now(acquire(other, "a"));
        store.acquires = Fate.REPLY_HELD;
        CompletableFuture<Lease> waiting = acquire(client, "a");
        held.release();
        advance(1);
        assertThat(waiting).isNotDone();
        store.acquires = Fate.PASS;
        store.deliverReplies();

        assertThat(now(waiting).isValid()).isTrue();
    }

    @Test
    void a_message_that_the_lock_was_released_makes_the_waiter_ask_at_once() {
        Lease held = now(acquire(other, "a"));
        CompletableFuture<Lease> waiting = acquire(client, "a");
        store.messages = false;
        held.release();
        Objects.requireNonNull(store.listener).released("a");

        assertThat(now(waiting).isValid()).isTrue();
    }

    @Test
    void one_failure_after_a_long_wait_that_went_well_is_not_the_end_of_it() {
        Lease held = now(acquire(other, "a"));
        CompletableFuture<Lease> waiting = acquire(client, "a");
        advance(20_000);
        store.acquires = Fate.FAIL;
        advance(2_000);
        assertThat(waiting).isNotDone();
        store.acquires = Fate.PASS;
        held.release();
        advance(2_000);

        assertThat(now(waiting).isValid()).isTrue();
    }

    @Test
    void a_wait_in_which_the_store_failed_and_then_said_busy_times_out() {
        now(acquire(other, "a"));
        store.acquires = Fate.FAIL;
        CompletableFuture<Lease> waiting = acquire(client, "a", DEFAULTS.waitAtMost(ofSeconds(3)));
        advance(500);
        store.acquires = Fate.PASS;
        advance(2_500);

        assertThatThrownBy(waiting::join).hasCauseInstanceOf(LockTimeoutException.class);
    }

    @Test
    void something_without_expiry_that_stays_in_the_way_is_an_error_and_not_waited_on_for_ever() {
        ProbeStore blocked = answering("blocked", request -> busy(AcquireReply.Busy.NO_EXPIRY, 0));
        CompletableFuture<Lease> waiting = acquire(client("blocked", blocked, settings -> {}), "a");
        advance(1_000);

        assertThatThrownBy(waiting::join)
                .hasCauseInstanceOf(LockStoreException.class)
                .hasMessageContaining("\"somebody\" without expiry");
    }

    @Test
    void something_without_expiry_is_an_error_to_one_who_does_not_wait_too() {
        ProbeStore blocked = answering("blocked", request -> busy(AcquireReply.Busy.NO_EXPIRY, 0));
        LockClient asking = client("blocked", blocked, settings -> {});
        for (Duration wait : List.of(Duration.ZERO, ofMillis(5), ofMillis(300))) {
            long asked = blocked.count("acquire");
            CompletableFuture<Lease> attempt = acquire(asking, "a", DEFAULTS.waitAtMost(wait));
            assertThat(attempt).as("after one look").isNotDone();
            advance(300);

            assertThatThrownBy(attempt::join)
                    .hasCauseInstanceOf(LockStoreException.class)
                    .hasMessageContaining("\"somebody\" without expiry");
            assertThat(blocked.count("acquire") - asked).as("looks").isEqualTo(2);
        }
    }

    @Test
    void something_without_expiry_that_was_there_for_a_moment_is_busy_to_one_who_does_not_wait() {
        int[] asked = new int[1];
        ProbeStore passing =
                answering("passing", request -> busy(asked[0]++ < 1 ? AcquireReply.Busy.NO_EXPIRY : 1_000, 0));
        CompletableFuture<Lease> attempt =
                acquire(client("passing", passing, settings -> {}), "a", DEFAULTS.waitAtMost(Duration.ZERO));
        advance(100);

        assertThatThrownBy(attempt::join).hasCauseInstanceOf(LockTimeoutException.class);
    }

    @Test
    void a_foreign_holder_is_warned_of_once() {
        try (Warnings warnings = new Warnings()) {
            ProbeStore blocked = answering("blocked", request -> busy(1_000, 0));
            LockClient asking = client("blocked", blocked, settings -> {});
            for (int i = 0; i < 3; i++) {
                assertThatThrownBy(acquire(asking, "a", DEFAULTS.waitAtMost(Duration.ZERO))::join)
                        .hasCauseInstanceOf(LockTimeoutException.class);
            }
            assertThat(warnings.said())
                    .containsExactly(
                            "The lock \"a\" is held by \"somebody\", which is no client of Holdfast; clients wait until"
                                    + " the store ends that hold");
            for (int i = 0; i < 100; i++) {
                assertThat(acquire(asking, "b" + i, DEFAULTS.waitAtMost(Duration.ZERO)))
                        .isDone();
            }
            assertThat(warnings.said()).as("within a minute").hasSizeLessThanOrEqualTo(10);
        }
    }

    /** A slow log must delay only the thread that logs. */
    @Test
    void a_foreign_holder_is_logged_without_the_lock_of_the_name() {
        LockClient asking = client("blocked", answering("blocked", request -> busy(1_000, 0)), settings -> {});
        List<Boolean> locked = new ArrayList<>();
        try (Warnings warnings = new Warnings() {
            @Override
            public void publish(LogRecord entry) {
                super.publish(entry);
                locked.add(Inside.engine(asking).engine("a").isHeldByCurrentThread());
            }
        }) {
            acquire(asking, "a").cancel(false);
            assertThat(warnings.said("no client of Holdfast")).hasSize(1);
        }
        assertThat(locked).containsExactly(false);
    }

    @Test
    void a_holder_of_holdfast_is_not_warned_of() {
        now(acquire(client("hf-x"), "a"));
        try (Warnings warnings = new Warnings()) {
            assertThat(client.tryAcquire("a")).isEmpty();
            assertThat(warnings.said()).isEmpty();
        }
    }

    @Test
    void something_without_expiry_that_was_there_for_a_moment_is_waited_for() {
        int[] asked = new int[1];
        ProbeStore passing =
                answering("passing", request -> asked[0]++ < 1 ? busy(AcquireReply.Busy.NO_EXPIRY, 0) : null);
        CompletableFuture<Lease> waiting = acquire(client("passing", passing, settings -> {}), "a");
        advance(1_000);

        assertThat(now(waiting).isValid()).isTrue();
    }

    @Test
    void only_the_first_in_the_queue_asks_at_the_expiry_of_the_holder() {
        ProbeStore second = answering("second", request -> busy(300, 1));
        CompletableFuture<Lease> waiting = acquire(client("second", second, settings -> {}), "a");
        advance(700);
        assertThat(second.count("acquire")).isEqualTo(1);
        advance(300);
        assertThat(second.count("acquire")).isEqualTo(2);
        waiting.cancel(false);
    }

    @Test
    void a_grant_says_that_others_wait_so_the_tenure_ends() {
        Lease held = now(acquire(other, "a"));
        CompletableFuture<Lease> first = acquire(client, "a");
        CompletableFuture<Lease> third = acquire(client("third"), "a");
        held.release();
        advance(1);
        CompletableFuture<Lease> next = acquire(client, "a");
        advance(20);
        now(first).release();
        advance(1);

        assertThat(now(third).isValid()).isTrue();
        assertThat(next).isNotDone();
    }

    @Test
    void a_hold_is_used_once_before_it_is_given_away_however_short_the_tenure() {
        Lease held = now(acquire(other, "a"));
        CompletableFuture<Lease> first = acquire(client, "a", DEFAULTS.tenure(Duration.ZERO));
        CompletableFuture<Lease> third = acquire(client("third"), "a");
        held.release();
        advance(1);

        assertThat(now(first).isValid()).isTrue();
        assertThat(third).isNotDone();
    }

    @Test
    void a_hold_whose_release_and_requeue_failed_is_withdrawn() {
        Lease first = now(acquire(client, "a"));
        CompletableFuture<Lease> next = acquire(client, "a");
        CompletableFuture<Lease> remote = acquire(other, "a");
        advance(20);
        store.releases = Fate.FAIL;
        store.failure = new StoreException(StoreException.Outcome.UNKNOWN, "no answer", null);
        first.release();
        advance(1);

        assertThat(store.count("requeue")).isEqualTo(1);
        assertThat(now(remote).isValid()).isTrue();
        now(remote).release();
        advance(1_000);
        assertThat(now(next).isValid()).isTrue();
    }

    @Test
    void a_release_and_requeue_that_finds_the_hold_gone_queues_all_the_same() {
        Lease first = now(acquire(client, "a"));
        CompletableFuture<Lease> next = acquire(client, "a");
        CompletableFuture<Lease> remote = acquire(other, "a");
        advance(20);
        other.forceRelease("a");
        first.release();
        advance(1);
        assertThat(next).isNotDone();
        now(remote).release();
        advance(1);

        assertThat(now(next).isValid()).isTrue();
    }

    @Test
    void a_wait_that_was_granted_leaves_no_timer_until_its_longest_time() {
        Lease held = now(acquire(other, "a"));
        CompletableFuture<Lease> waiting = acquire(client, "a", DEFAULTS.waitAtMost(ofHours(1)));
        held.release();
        advance(1);
        now(waiting).release();
        // The look at long waits finds none, and is the last.
        advance(60_000);

        assertThat(time.pending()).isZero();
    }

    @Test
    void a_wait_that_was_cancelled_leaves_no_poll() {
        now(acquire(other, "a"));
        // One timer that looks at all long waits stays for a minute.
        int before = time.pending() + 1;
        CompletableFuture<Lease> waiting = acquire(client, "a");
        advance(1);
        assertThat(time.pending()).isGreaterThan(before);
        waiting.cancel(false);

        assertThat(time.pending()).isEqualTo(before);
    }

    @Test
    void an_engine_that_was_retired_takes_no_waiter_so_that_a_name_never_has_two() {
        ActiveLease lease = now(acquire(client, "a"));
        NameEngine engine = Inside.engine(client).engine("a");
        lease.release();

        assertThat(engine.submit(Waiter.asynchronous(DEFAULTS, Waiter.Mode.PATIENT, time.nanoTime())))
                .isFalse();
        assertThat(now(acquire(client, "a")).hold.engine).isNotSameAs(lease.hold.engine);
    }

    // --- withdrawals that fail ---

    @Test
    void a_client_that_is_closed_withdraws_nothing_more_and_says_so_once() {
        for (int i = 0; i < 5; i++) {
            now(acquire(client, "n" + i));
        }
        store.releases = Fate.FAIL;
        store.abandons = Fate.FAIL;
        try (Warnings warnings = new Warnings()) {
            // The bounded wait for the store ends at once.
            Thread.currentThread().interrupt();
            client.close();
            assertThat(Thread.interrupted()).isTrue();
            long asked = store.count("abandon");
            assertThat(asked).isEqualTo(5);
            advance(60_000);

            assertThat(store.count("abandon")).isEqualTo(asked);
            assertThat(Inside.engine(client).compensation.pending()).isZero();
            assertThat(warnings.said(Level.WARNING, "the client was closed")).hasSize(5);
            assertThat(warnings.said(Level.WARNING, "The client was closed"))
                    .containsExactly("The client was closed before probe confirmed the release of \"n0\", \"n1\","
                            + " \"n2\", \"n3\", \"n4\", for which it waited at most 2 s; each becomes free when its"
                            + " lease has run out");
        }
    }

    @Test
    void many_withdrawals_that_fail_at_once_are_told_by_their_number() {
        List<Lease> leases = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            leases.add(now(acquire(client, "n" + i)));
        }
        store.failure = new StoreException(StoreException.Outcome.FATAL, "not allowed", null);
        store.releases = Fate.FAIL;
        store.abandons = Fate.FAIL;
        try (Warnings warnings = new Warnings()) {
            leases.forEach(Lease::releaseAsync);
            assertThat(warnings.said()).hasSize(10);
            assertThat(warnings.said().get(0))
                    .isEqualTo("The lock \"n0\" could not be released at the store, and becomes free when its lease has"
                            + " run out (holder id \"one:1\"): not allowed");
            advance(10_001);
            assertThat(warnings.said()).hasSize(11);
            assertThat(warnings.said().get(10)).startsWith("10 more locks could not be released or given up");
        }
    }

    /** Whoever waits when the store cannot be reached holds nothing, and its client cannot leave anything locked. */
    @Test
    void a_close_says_nothing_of_acquisitions_that_never_got_the_lock() {
        Lease held = now(acquire(other, "a"));
        CompletableFuture<Lease> waiting = acquire(client, "a");
        store.abandons = Fate.FAIL;
        try (Warnings warnings = new Warnings()) {
            Thread.currentThread().interrupt();
            client.close();
            assertThat(Thread.interrupted()).isTrue();

            assertThat(waiting).isCompletedExceptionally();
            assertThat(warnings.said()).isEmpty();
        }
        advance(60_000);
        held.release();
    }

    private interface Answer {
        CompletionStage<AcquireReply> to(AcquireRequest request);
    }

    private static CompletionStage<AcquireReply> busy(long remainingMillis, int ahead) {
        return CompletableFuture.completedFuture(new AcquireReply.Busy(remainingMillis, ahead, "somebody"));
    }

    /** A store that answers an acquire as the test says, or truthfully if the test says nothing. */
    private ProbeStore answering(String id, Answer answer) {
        LockStore real = probe(id);
        return new ProbeStore(new ForwardingStore(real) {
            @Override
            public CompletionStage<AcquireReply> acquire(AcquireRequest request) {
                CompletionStage<AcquireReply> told = answer.to(request);
                return told != null ? told : super.acquire(request);
            }
        });
    }
}
