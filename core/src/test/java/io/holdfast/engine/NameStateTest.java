package io.holdfast.engine;

import static java.time.Duration.ZERO;
import static java.time.Duration.ofMillis;
import static java.time.Duration.ofSeconds;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.LockClientClosedException;
import io.holdfast.LockOptions;
import io.holdfast.spi.AcquireReply;
import io.holdfast.spi.AcquireReply.Busy;
import io.holdfast.spi.AcquireReply.Granted;
import io.holdfast.spi.ClockReading;
import io.holdfast.spi.HolderId;
import io.holdfast.spi.ReleaseReply;
import io.holdfast.spi.RenewReply;
import io.holdfast.spi.RenewRequest;
import io.holdfast.spi.StoreException;
import io.holdfast.spi.StoreException.Outcome;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The decisions about one name, event by event: what comes in, and what the state asks for. */
class NameStateTest {

    private static final LockOptions DEFAULTS = LockOptions.defaults();

    /** The first tokens of the first three holds: a base has its hand-offs in the low 16 bits. */
    private static final long FIRST = 1 << 14;

    private static final long SECOND = 2 << 14;

    private final RecordingEffects effects = new RecordingEffects();
    private final NameState state = effects.state;

    // --- acquire, grant, release ---

    @Test
    void a_lease_that_nobody_else_wants_costs_an_acquire_and_a_release() {
        arrive(DEFAULTS);
        asks("acquire 1 or queue");
        granted(1);
        asks("grant " + FIRST);
        state.tenure.onReleased(lease());
        asks("release 1");
    }

    @Test
    void while_the_store_is_asked_another_waiter_costs_no_command() {
        arrive(DEFAULTS);
        asks("acquire 1 or queue");
        arrive(DEFAULTS);
        asks();
        granted(1);
        asks("grant " + FIRST);
    }

    @Test
    void a_release_hands_the_hold_to_the_next_waiter_without_a_command() {
        hold();
        arrive(DEFAULTS);
        state.tenure.onReleased(lease());
        asks("lease " + FIRST + " ended", "grant " + (FIRST + 1));
    }

    @Test
    void a_release_that_comes_after_the_loss_touches_no_hold() {
        hold();
        ActiveLease lost = lease();
        state.tenure.onLost(HolderId.of("c", 1));
        effects.asked();
        state.tenure.onReleased(lost);
        asks("lease " + FIRST + " was gone");
    }

    @Test
    void a_next_lease_of_another_length_is_handed_out_after_the_answer_to_its_setting() {
        hold();
        arrive(DEFAULTS.leaseFor(ofSeconds(1)));
        state.tenure.onReleased(lease());
        asks("lease " + FIRST + " ended", "set 1 to 1000 ms");
        RenewRequest setting = requireNonNull(effects.preparation);
        state.tenure.onPrepared(hold(1), setting, now(), new RenewReply.Renewed(0), null);
        asks("renewed", "grant " + (FIRST + 1));
    }

    @Test
    void a_retained_hold_is_left_at_the_store_and_the_next_waiter_asks_anew() {
        hold();
        arrive(DEFAULTS);
        state.tenure.onRetained(lease(), now().nanos() + 1_000);
        asks("retain 1", "acquire 2 or queue");
    }

    // --- busy ---

    @Test
    void a_waiter_with_one_attempt_gets_a_no_and_leaves_nothing_behind() {
        arrive(DEFAULTS.waitAtMost(ZERO));
        asks("acquire 1");
        answer(1, new Busy(500, 0, "other"), null);
        asks("no lease: TIMED_OUT");
    }

    @Test
    void a_waiter_asks_again_when_the_holder_expires_or_the_store_has_news() {
        arrive(DEFAULTS);
        effects.asked();
        answer(1, new Busy(500, 0, "other"), null);
        asks("poll after 502 ms");
        state.contention().onPoll();
        asks("acquire 1 or queue");
        state.contention().onHint();
        asks();
        answer(1, new Busy(500, 0, "other"), null);
        asks("acquire 1 or queue");
    }

    // --- a waiter leaves ---

    @Test
    void an_acquire_whose_waiter_left_is_withdrawn_and_once_more_when_its_grant_comes_late() {
        Waiter waiter = arrive(DEFAULTS.waitAtMost(ofMillis(10)));
        effects.asked();
        state.onLeave(waiter, Waiter.State.TIMED_OUT, null);
        asks("end the wait after 100 ms");
        effects.time.advance(ofMillis(100));
        state.onLeave(waiter, Waiter.State.TIMED_OUT, null);
        asks("no lease: FAILED", "await the answer", "abandon 1");
        granted(1);
        asks("abandon 1", "answered");
    }

    /** The withdrawal may have overtaken the step of the acquire that queued. */
    @Test
    void an_acquire_that_queued_after_its_waiter_left_is_withdrawn_once_more() {
        Waiter waiter = arrive(DEFAULTS);
        effects.asked();
        state.onLeave(waiter, Waiter.State.WITHDRAWN, null);
        asks("no lease: WITHDRAWN", "await the answer", "abandon 1");
        answer(1, new Busy(500, 0, "other"), null);
        asks("abandon 1", "answered");
    }

    @Test
    void an_acquire_without_a_place_in_the_queue_leaves_nothing_where_others_hold() {
        Waiter waiter = arrive(DEFAULTS.waitAtMost(ZERO));
        effects.asked();
        state.onLeave(waiter, Waiter.State.WITHDRAWN, null);
        asks("no lease: WITHDRAWN", "await the answer", "abandon 1");
        answer(1, new Busy(500, 0, "other"), null);
        asks("answered");
    }

    @Test
    void a_requeue_whose_waiter_left_is_withdrawn_once_more_if_it_queued() {
        hold();
        Waiter waiter = arrive(DEFAULTS);
        state.onForcing(null);
        state.onForced(null, false);
        state.tenure.onReleased(lease());
        effects.asked();
        state.onLeave(waiter, Waiter.State.WITHDRAWN, null);
        asks("no lease: WITHDRAWN", "await the answer", "abandon 2");
        state.onRequeued(attempt(2), now(), ReleaseReply.requeued(new Busy(500, 0, "other")), null);
        asks("abandon 2", "answered");
    }

    @Test
    void a_requeue_whose_waiter_left_and_that_found_no_hold_left_nothing() {
        hold();
        Waiter waiter = arrive(DEFAULTS);
        state.onForcing(null);
        state.onForced(null, false);
        state.tenure.onReleased(lease());
        state.onLeave(waiter, Waiter.State.WITHDRAWN, null);
        effects.asked();
        state.onRequeued(attempt(2), now(), ReleaseReply.notHeld(), null);
        asks("answered");
    }

    @Test
    void a_waiter_that_leaves_a_queue_behind_another_costs_no_command() {
        hold();
        Waiter waiter = arrive(DEFAULTS);
        state.onLeave(waiter, Waiter.State.WITHDRAWN, null);
        asks("no lease: WITHDRAWN");
        state.tenure.onReleased(lease());
        asks("release 1");
    }

    // --- renewal and loss ---

    @Test
    void a_renewal_is_due_after_a_third_of_the_lease() {
        hold();
        effects.time.advance(ofMillis(500));
        assertThat(state.tenure.onRenewalDue(hold(1), now(), false)).isNull();
        effects.time.advance(ofMillis(500));
        RenewRequest renewal = requireNonNull(state.tenure.onRenewalDue(hold(1), now(), false));
        assertThat(renewal.leaseMillis()).isEqualTo(3_000);
        state.tenure.onRenewed(hold(1), renewal, now(), new RenewReply.Renewed(0), null);
        asks("renewed");
    }

    @Test
    void a_renewal_that_finds_the_hold_gone_ends_the_lease_and_the_next_waiter_asks_anew() {
        hold();
        arrive(DEFAULTS);
        effects.time.advance(ofSeconds(1));
        RenewRequest renewal = requireNonNull(state.tenure.onRenewalDue(hold(1), now(), false));
        state.tenure.onRenewed(hold(1), renewal, now(), new RenewReply.Gone(), null);
        asks("lost: the store says that it expired, was removed or was taken", "abandon hold 1", "acquire 2 or queue");
        granted(2);
        asks("grant " + SECOND);
    }

    @Test
    void a_lease_whose_renewals_fail_ends_at_its_deadline() {
        hold();
        effects.time.advance(ofSeconds(1));
        RenewRequest renewal = requireNonNull(state.tenure.onRenewalDue(hold(1), now(), false));
        state.tenure.onRenewed(hold(1), renewal, now(), null, failure(Outcome.UNKNOWN));
        asks("renewal failed");
        effects.time.advance(ofSeconds(2));
        assertThat(state.tenure.onRenewalDue(hold(1), now(), false)).isNull();
        asks("lost: its time ran out without a successful renewal", "abandon hold 1");
    }

    @Test
    void the_timer_is_told_once_after_each_event_that_has_moved_the_time() {
        hold();
        long third = now().nanos() + ofSeconds(1).toNanos();
        assertThat(effects.due).isEmpty();
        assertThat(state.settle()).isFalse();
        assertThat(effects.due).containsExactly(third);

        Waiter waiter = arrive(DEFAULTS);
        state.settle();
        assertThat(effects.due).containsExactly(third);

        // The timer has taken the hold out of its queue, so settle passes its time on although that has not moved.
        effects.time.advance(ofMillis(500));
        assertThat(state.tenure.onRenewalDue(hold(1), now(), false)).isNull();
        state.settle();
        assertThat(effects.due).containsExactly(third, third);

        state.onLeave(waiter, Waiter.State.WITHDRAWN, null);
        state.tenure.onReleased(lease());
        assertThat(state.settle()).isTrue();
        assertThat(effects.due).containsExactly(third, third);
    }

    /** To move ten thousand holds in the timer's queue costs more than all the rest of their renewals. */
    @Test
    void the_answer_to_a_renewal_does_not_move_the_time() {
        hold();
        effects.time.advance(ofSeconds(1));
        ClockReading sent = now();
        RenewRequest renewal = requireNonNull(state.tenure.onRenewalDue(hold(1), sent, false));
        state.settle();
        effects.time.advance(ofMillis(5));
        state.tenure.onRenewed(hold(1), renewal, sent, new RenewReply.Renewed(0), null);
        state.settle();
        assertThat(effects.due).containsExactly(sent.nanos() + ofSeconds(1).toNanos());
    }

    @Test
    void the_lease_that_is_out_is_published_at_the_end_of_an_event() {
        hold();
        ActiveLease first = lease();
        assertThat(effects.published).isNull();
        state.settle();
        assertThat(effects.published).isSameAs(first);

        arrive(DEFAULTS);
        state.tenure.onReleased(first);
        ActiveLease second = lease();
        assertThat(effects.published).isSameAs(first).isNotSameAs(second);
        state.settle();
        assertThat(effects.published).isSameAs(second);

        state.tenure.onReleased(second);
        state.settle();
        assertThat(effects.published).isNull();
    }

    // --- other clients ---

    @Test
    void a_tenure_that_is_over_ends_with_a_release_that_queues_the_next_waiter() {
        hold();
        arrive(DEFAULTS);
        state.tenure.onReleased(lease());
        arrive(DEFAULTS);
        state.tenure.onContended(HolderId.of("c", 1));
        effects.time.advance(ofMillis(20));
        effects.asked();
        state.tenure.onReleased(lease());
        asks("lease " + (FIRST + 1) + " ended", "release 1 and queue 2");
        state.onRequeued(attempt(2), now(), ReleaseReply.requeued(new Busy(3_000, 0, "other")), null);
        asks("poll after 1000 ms");
        state.onPushed(HolderId.of("c", 2));
        asks("acquire 2 or queue");
        granted(2);
        asks("grant " + SECOND);
    }

    @Test
    void a_requeue_that_found_no_hold_asks_for_a_place_in_the_queue() {
        hold();
        arrive(DEFAULTS);
        state.onForcing(null);
        state.onForced(null, false);
        state.tenure.onReleased(lease());
        asks("lease " + FIRST + " ended", "release 1 and queue 2");
        state.onRequeued(attempt(2), now(), ReleaseReply.notHeld(), null);
        asks("acquire 2 or queue");
    }

    @Test
    void a_grant_for_an_id_that_nothing_here_uses_is_withdrawn() {
        hold();
        state.onPushed(HolderId.of("c", 7));
        asks("abandon 7");
        state.onPushed(HolderId.of("c", 1));
        state.onLateAcquiresOver(HolderId.of("c", 1), 1);
        asks();
    }

    // --- failures of the store ---

    @Test
    void an_acquire_of_unknown_outcome_is_watched_and_asked_for_again() {
        arrive(DEFAULTS);
        effects.asked();
        answer(1, null, failure(Outcome.UNKNOWN));
        asks("watch for late 1", "poll after 50 ms");
        state.contention().onPoll();
        asks("acquire 1 or queue");
    }

    @Test
    void a_fatal_failure_ends_all_waits() {
        arrive(DEFAULTS);
        arrive(DEFAULTS);
        effects.asked();
        answer(1, null, failure(Outcome.FATAL));
        asks("no lease: FAILED", "no lease: FAILED");
    }

    @Test
    void a_grant_that_comes_after_its_lease_is_withdrawn_and_asked_for_by_a_new_id() {
        arrive(DEFAULTS);
        effects.asked();
        ClockReading sent = now();
        effects.time.advance(ofSeconds(3));
        state.onAcquired(attempt(1), sent, new Granted(1, 0), null);
        asks("abandon 1", "acquire 2 or queue");
    }

    @Test
    void a_closed_client_fails_its_waiters_and_releases_its_hold() {
        hold();
        arrive(DEFAULTS);
        state.onClosed(new LockClientClosedException("closed"), null);
        asks("no lease: FAILED", "lost: the client was closed", "release 1");
    }

    /** Whatever happened: when the lease is released and nobody waits, nothing is left. */
    @AfterEach
    void the_name_becomes_free() {
        for (Waiter waiter = state.firstWaiter(); waiter != null; waiter = state.firstWaiter()) {
            state.onLeave(waiter, Waiter.State.WITHDRAWN, null);
        }
        ActiveLease out = state.tenure.lease();
        if (out != null) {
            state.tenure.onReleased(out);
        }
        assertThat(state.settle()).isTrue();
    }

    private Waiter arrive(LockOptions options) {
        Waiter waiter = Waiter.asynchronous(options, Waiter.Mode.PATIENT, now().nanos());
        state.onArrived(waiter);
        return waiter;
    }

    /** Begins with a lease on the first hold. */
    private void hold() {
        arrive(DEFAULTS);
        granted(1);
        effects.asked();
    }

    private void granted(int acquisition) {
        answer(acquisition, new Granted(acquisition, 0), null);
    }

    private void answer(int acquisition, @Nullable AcquireReply reply, @Nullable Throwable error) {
        state.onAcquired(attempt(acquisition), now(), reply, error);
    }

    private void asks(String... expected) {
        assertThat(effects.asked()).containsExactly(expected);
    }

    private Attempt attempt(int acquisition) {
        return requireNonNull(effects.attempts.get(acquisition));
    }

    private Hold hold(int acquisition) {
        return requireNonNull(effects.holds.get(acquisition));
    }

    private ActiveLease lease() {
        return requireNonNull(state.tenure.lease());
    }

    private ClockReading now() {
        return ClockReading.now(effects.time);
    }

    private static StoreException failure(Outcome outcome) {
        return new StoreException(outcome, "no answer", null);
    }
}
