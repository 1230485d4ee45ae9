package io.holdfast.engine;

import io.holdfast.spi.ClockReading;
import io.holdfast.spi.RenewReply;
import io.holdfast.spi.RenewRequest;
import io.holdfast.spi.TimeSource;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * The part of {@link NameState} that holds the name at the store and hands it out here, one lease after the other.
 *
 * <p>Invariants: {@code lease != null ⇒ hold != null}; with a hold but no lease, either the length for the next lease
 * is being set, or the lock is open and a waiter was woken to claim it; at most one lease of this client is valid, as
 * the next is made only after the last one has ended.
 */
public final class Tenure {

    private final NameState state;
    private @Nullable Hold hold;
    private @Nullable ActiveLease lease;

    Tenure(NameState state) {
        this.state = state;
    }

    private TimeSource time() {
        return state.settings().time;
    }

    private Upkeep upkeep() {
        return state.effects.upkeep();
    }

    boolean isActive() {
        return hold != null;
    }

    boolean isOf(String holderId) {
        return hold != null && hold.isOf(holderId);
    }

    @Nullable
    public ActiveLease lease() {
        return lease;
    }

    @Nullable
    Hold hold() {
        return hold;
    }

    /** Renews the hold for this lease on it from now on: others share it. */
    void keepFor(ActiveLease other) {
        lease = other;
    }

    void begin(Hold acquired) {
        hold = acquired;
        // The machine may have been suspended while the store's answer was on its way.
        acquired.deadline = acquired.deadline.asOf(ClockReading.now(time()));
        handOut(acquired, acquired.leaseNanos);
    }

    // --- events from owners and waiters ---

    /** The owner released: the lease is RELEASED. */
    void onReleased(ActiveLease ended) {
        Hold held = takeBack(ended);
        Waiter next = state.firstWaiter();
        if (held == null) {
            return;
        }
        if (next == null) {
            hold = null;
            state.effects.sendRelease(held, ended);
            return;
        }
        state.effects.endLease(ended, false);
        if (mayLeaveOpenFor(next, held)) {
            held.open = true;
            state.effects.nudge(next);
        } else {
            handOut(held, 0);
        }
    }

    /**
     * The owner released, but the name is to stay locked until this time. The hold is dropped here and left at the
     * store, which ends it by itself; local waiters ask the store like other clients.
     */
    void onRetained(ActiveLease ended, long endNanos) {
        Hold held = takeBack(ended);
        if (held != null) {
            hold = null;
            held.sequence++;
            state.effects.sendRetain(held, ended, endNanos);
            state.contention().beginAfterTenure();
        }
    }

    /** Takes a released lease back. Returns its hold, or null if that was lost before the release came here. */
    private @Nullable Hold takeBack(ActiveLease ended) {
        if (lease != ended) {
            state.effects.endLease(ended, true);
            return null;
        }
        lease = null;
        return hold;
    }

    /** Gives a lock that was left open to a running thread, before the waiter that was woken for it. */
    boolean tryBarge(Waiter arriving) {
        Hold held = hold;
        if (held == null || !held.open || arriving.options.isFair() || !canTakeAtOnce(held, arriving)) {
            return false;
        }
        grant(held, arriving);
        return true;
    }

    /**
     * The waiter that was woken for an open lock, which is the first one, claims the lock. Or a waiter has left: it may
     * be that one, and the lock must not stay unused.
     */
    void handOutIfOpen() {
        if (hold != null && hold.open) {
            handOut(hold, 0);
        }
    }

    /**
     * A transaction is about to lock the row of the hold at the store, and two leases of one hold would lock the same
     * row. So the present lease is the last one that is handed out on it.
     *
     * @return whether it is the present lease
     */
    boolean onTied(ActiveLease tied) {
        Hold held = hold;
        if (held == null || lease != tied) {
            return false;
        }
        held.endHandOffs();
        return true;
    }

    /** A caller found that the time of a lease has passed. */
    void onLeaseOver(ActiveLease over) {
        if (over == lease && hold != null) {
            endIfOver(hold, ClockReading.now(time()));
        }
    }

    /** @param closer see {@link ActiveLease#isUsedAfterCloseBy} */
    void onClosed(@Nullable Thread closer) {
        Hold held = hold;
        if (held == null) {
            return;
        }
        ActiveLease out = lease;
        if (out != null && out.isUsedAfterCloseBy(closer)) {
            out.noteLeft();
            loseLease(
                    "the client was closed while work under it ran; the lock stays locked until the lease has run out",
                    false);
            hold = null;
            state.effects.leave(held, out);
        } else {
            loseLease("the client was closed", false);
            hold = null;
            state.effects.sendRelease(held, null);
        }
    }

    // --- events from the store ---

    /** Another client waits for the name. */
    void onContended(String holderId) {
        if (hold != null && hold.isOf(holderId)) {
            hold.contended = true;
        }
    }

    /** Handles the store's unsolicited message that the hold is gone. */
    void onLost(String holderId) {
        if (hold != null && hold.isOf(holderId)) {
            loseGoneHold(hold);
        }
    }

    /**
     * A message says that the hold was ended by force. Any program may send such a message, so it ends nothing here: the
     * store is asked. While renewals fail, the next one asks, which comes soon. A release by force through this client
     * that is under way has an answer of its own.
     */
    void onForceHint(String holderId) {
        if (hold == null || !hold.isOf(holderId) || (hold.forced && state.isForcing())) {
            return;
        }
        if (hold.noteDoubt() && !hold.renewalFailing) {
            askNow(hold);
        }
    }

    /** Asks the store about the hold at once, or when the next lease is out on it. */
    private void askNow(Hold held) {
        upkeep().askNow(held, time().nanoTime());
    }

    /** Marks the hold, which a command that is about to be sent may remove, and returns it. */
    @Nullable
    Hold markForced() {
        if (hold != null) {
            hold.forced = true;
        }
        return hold;
    }

    /** That command ended. If the store does not say that it removed a hold, it may still do so. */
    void onForced(@Nullable Hold before, boolean removed) {
        Hold held = hold;
        if (held == null || held != before) {
            return;
        }
        if (removed) {
            loseHold(held, "it was removed by force through this client", false);
        } else if (lease != null) {
            askNow(held);
        }
    }

    void onRenewed(
            Hold held, RenewRequest request, ClockReading sent, @Nullable RenewReply reply, @Nullable Throwable error) {
        if (held != hold) {
            return;
        }
        boolean doubted = held.noteAnswer();
        onAnswer(held, request, sent, reply, error);
        if (doubted && held == hold && error == null) {
            askNow(held);
        }
    }

    private void onAnswer(
            Hold held, RenewRequest request, ClockReading sent, @Nullable RenewReply reply, @Nullable Throwable error) {
        // If a length was set after this request was sent, its effect has been overwritten.
        if (request.sequence() < held.sequence) {
            return;
        }
        if (reply instanceof RenewReply.Renewed seen && request.isLook()) {
            upkeep().onSeen(held, seen, sent);
        } else if (reply instanceof RenewReply.Renewed extended) {
            extend(held, request, sent, extended);
        } else if (reply instanceof RenewReply.Gone) {
            loseGoneHold(held);
        } else if (error != null) {
            state.effects.reportRenewalFailure(held, error);
            upkeep().onRenewalFailed(held, time().nanoTime());
        }
    }

    /** The answer to a renewal that sets the length for the next lease. */
    void onPrepared(
            Hold held, RenewRequest request, ClockReading sent, @Nullable RenewReply reply, @Nullable Throwable error) {
        if (held != hold) {
            return;
        }
        if (reply instanceof RenewReply.Renewed extended) {
            if (extend(held, request, sent, extended)) {
                handOut(held, request.leaseMillis() * 1_000_000);
            }
        } else {
            // The hold is gone, or its length is not known; and nobody relies on it yet.
            if (error != null) {
                state.effects.reportRenewalFailure(held, error);
            }
            loseHold(held, "", false);
        }
    }

    /**
     * The hold's time has come: ends what is over, or returns the renewal to send.
     *
     * @param sent when the clocks were read, before the first renewal of all that are due together is sent
     * @param jumped whether the wall clock has jumped forward since the last time
     */
    @Nullable
    RenewRequest onRenewalDue(Hold due, ClockReading sent, boolean jumped) {
        if (due != hold) {
            return null;
        }
        due.watchedNanos = Hold.NEVER;
        if (jumped) {
            upkeep().onClockJumped(due, sent);
        }
        if (endIfOver(due, sent)) {
            return null;
        }
        RenewRequest request = upkeep().dueRenewal(due, lease, sent, state.effects.storedName());
        if (request == null) {
            return null;
        }
        due.noteQuestion();
        if (lease != null && lease.noticeForgotten()) {
            state.effects.reportForgotten(lease);
        }
        // Waiters elsewhere matter only where the lock is passed on here.
        boolean counted = !state.hasNoWaiters() || due.wasHandedOn();
        if (counted) {
            due.lookedOutNanos = sent.nanos();
        }
        return request.counted(counted);
    }

    /** Returns the delay of the renewal that is due and not confirmed; zero if there is none. */
    long renewalLagNanos() {
        return hold == null || lease == null ? 0 : upkeep().lagNanos(hold, lease);
    }

    // --- handing out ---

    /**
     * Gives the hold, on which no lease is out, to the next waiter, or back to the store.
     *
     * @param lengthNanos the length that the store has just confirmed, or zero if that was some time ago
     */
    private void handOut(Hold held, long lengthNanos) {
        held.open = false;
        Waiter next = state.firstWaiter();
        if (next == null) {
            hold = null;
            state.effects.sendRelease(held, null);
        } else if (held.deadline.hasPassed(time())) {
            loseHold(held, "", false);
        } else if (isOverFor(next, held)) {
            hold = null;
            Attempt attempt = state.effects.newAttempt(state.storeLease(next), true);
            state.contention().resume(attempt);
            state.effects.sendReleaseAndRequeue(held, attempt);
        } else if (lengthNanos == state.storeLease(next) || upkeep().hasRightLength(held, next)) {
            state.waiters().remove(next);
            state.waiters().turnNanos = time().nanoTime();
            grant(held, next);
        } else {
            RenewRequest setting = upkeep().settingRequest(held, next, state.effects.storedName());
            state.effects.sendPreparation(held, setting);
        }
    }

    /**
     * Returns whether the lock is left open for running threads, as waking a parked thread takes longer than most
     * critical sections. Once the first waiter has waited for a while, that is so only in the short turn of the thread
     * that was woken last. So no waiter starves, and yet each acquisition does not cost a wake-up when thousands wait.
     */
    private boolean mayLeaveOpenFor(Waiter next, Hold held) {
        long now = time().nanoTime();
        boolean patient = now - next.arrivedNanos < state.settings().bargeNanos;
        boolean inTurn = now - state.waiters().turnNanos < state.settings().turnNanos;
        return next.parked != null && !next.options.isFair() && (patient || inTurn) && canTakeAtOnce(held, next);
    }

    private boolean canTakeAtOnce(Hold held, Waiter next) {
        return !held.deadline.hasPassed(time()) && !isOverFor(next, held) && upkeep().hasRightLength(held, next);
    }

    /** Returns whether the hold goes back to the store before the next lease. */
    private boolean isOverFor(Waiter next, Hold held) {
        long most = next.options.tenure().map(Duration::toNanos).orElse(state.settings().tenureNanos);
        boolean longEnough = time().nanoTime() - held.acquiredNanos >= most;
        return held.forced || !held.hasTokenLeft() || (held.contended && !held.isFresh() && longEnough);
    }

    /** The waiter is not in the queue (any more). */
    private void grant(Hold held, Waiter next) {
        held.open = false;
        long now = time().nanoTime();
        ActiveLease granted = next.leaseOn(held, now);
        lease = granted;
        upkeep().begin(held, granted, !state.hasNoWaiters(), now);
        state.effects.completeWaiter(next, granted);
    }

    // --- keeping ---

    /** Counts a renewal that the store confirmed. Returns false if the answer came too late, and the hold is lost. */
    private boolean extend(Hold renewed, RenewRequest request, ClockReading sent, RenewReply.Renewed reply) {
        boolean counts = upkeep().onRenewed(renewed, lease, request, sent, reply, ClockReading.now(time()));
        if (counts) {
            state.effects.reportRenewalSuccess(renewed);
        } else {
            loseHold(renewed, "its time ran out before the store confirmed a renewal", false);
        }
        return counts;
    }

    /** Ends the lease, or the hold and its lease, if the time had passed when the clocks were read. */
    private boolean endIfOver(Hold held, ClockReading now) {
        ActiveLease out = lease;
        boolean holdOver = held.deadline.hasPassed(now);
        if (!holdOver && (out == null || !out.isAtLimit(now.nanos()))) {
            return false;
        }
        String why = upkeep().endReason(held, out);
        if (holdOver) {
            loseHold(held, why, false);
        } else {
            loseLease(why, false);
            handOut(held, 0);
        }
        return true;
    }

    /** Ends a hold of which the store has just said that it is gone. */
    private void loseGoneHold(Hold held) {
        loseHold(held, "the store says that it expired, was removed or was taken", true);
    }

    /**
     * Ends a hold that is lost, or that must not be relied on. {@code answered}: the store has just reported the loss.
     */
    private void loseHold(Hold held, String why, boolean answered) {
        loseLease(why, answered);
        hold = null;
        // The hold may still be there, as its deadline comes first. Others need not wait for its end at the store.
        state.effects.abandon(held);
        state.contention().beginAfterTenure();
    }

    private void loseLease(String why, boolean answered) {
        ActiveLease out = lease;
        lease = null;
        if (out != null) {
            state.effects.reportLoss(out, why, answered);
        }
    }

    /**
     * Ends an event: publishes the lease that is out, and moves the time at which the timer calls, if the event has
     * moved it. No event does that itself, so none can forget it.
     *
     * @return whether there is a hold
     */
    boolean settle() {
        state.effects.publish(lease);
        Hold held = hold;
        if (held == null) {
            return false;
        }
        long due = upkeep().dueNanos(held, lease);
        if (due != held.watchedNanos) {
            held.watchedNanos = due;
            state.effects.watch(held, due);
        }
        return true;
    }
}
