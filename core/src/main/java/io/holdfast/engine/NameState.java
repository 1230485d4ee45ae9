package io.holdfast.engine;

import io.holdfast.LockClientClosedException;
import io.holdfast.LockException;
import io.holdfast.spi.AcquireReply;
import io.holdfast.spi.ClockReading;
import io.holdfast.spi.PushedGrant;
import io.holdfast.spi.ReleaseReply;
import io.holdfast.spi.StoreException;
import io.holdfast.store.StoreErrors;
import org.jspecify.annotations.Nullable;

/**
 * What this client does about one name: the decisions, as a state machine without I/O, threads or timers. Each method
 * {@code on…}, here and in the three parts ({@link Contention}, {@link Tenure}, {@link LeaseExtension}), is an event. What
 * follows from an event is asked of {@link Effects}. The caller passes one event at a time, and calls {@link
 * #settle} after each.
 *
 * <p>Possible states and transitions:
 *
 * <pre>
 *   FREE        nobody here wants the name
 *   CONTENDING  {@link Contention}: asking the store, or waiting in its queue
 *   PREPARING   {@link Tenure} without a lease: holds, and sets the length for the next one
 *   OPEN        {@link Tenure} without a lease: the first running thread takes it, and the first waiter was woken
 *   LEASED      {@link Tenure} with a lease
 *
 *   FREE → CONTENDING                     first waiter
 *   CONTENDING → LEASED | PREPARING       granted
 *   CONTENDING → FREE                     no waiter left, or the store failed
 *   LEASED → LEASED | PREPARING | OPEN    released or at its limit, and somebody waits here
 *   OPEN → LEASED | PREPARING | FREE      taken by the first waiter or a running thread | it gave up
 *   LEASED → CONTENDING                   end of the tenure, or the hold was lost, and somebody waits here
 *   LEASED | PREPARING → FREE             nobody waits here
 *   PREPARING → LEASED | CONTENDING       the length is set | the hold was lost
 * </pre>
 *
 * <p>Invariants: contention and tenure are never active together; somebody waits ⇒ not FREE, so no waiter is forgotten;
 * a lease is handed out only on a hold whose deadline has not passed.
 */
public final class NameState {

    final Effects effects;
    public final Tenure tenure;

    /** Null while nobody waits: most names of a client that holds thousands of locks. */
    private @Nullable WaitQueue queue;

    /** Null while the name is not asked for, for the same reason. */
    private @Nullable Contention contender;

    /**
     * How many releases by force of this client are under way. Until they end, no tenure begins: a grant that the store
     * reports may have been removed already.
     */
    private int forces;

    NameState(Effects effects) {
        this.effects = effects;
        this.tenure = new Tenure(this);
    }

    /** Not as a field: some clients have ten thousand of these. */
    EngineSettings settings() {
        return effects.settings();
    }

    private boolean isFree() {
        return forces == 0 && !isContending() && !tenure.isActive() && hasNoWaiters();
    }

    boolean isContending() {
        return contender != null && contender.isActive();
    }

    boolean hasNoWaiters() {
        return queue == null || queue.isEmpty();
    }

    int waiting() {
        return queue == null ? 0 : queue.size();
    }

    @Nullable
    public Waiter firstWaiter() {
        return queue == null ? null : queue.first();
    }

    /** For one event only. */
    WaitQueue waiters() {
        if (queue == null) {
            queue = new WaitQueue();
        }
        return queue;
    }

    /** For one event only. */
    public Contention contention() {
        if (contender == null) {
            contender = new Contention(this);
        }
        return contender;
    }

    /**
     * Ends an event: drops what holds nothing, and tells the timer of the hold.
     *
     * @return whether nobody here needs the name any more
     */
    boolean settle() {
        if (hasNoWaiters()) {
            queue = null;
        }
        if (!isContending()) {
            contender = null;
        }
        boolean holds = tenure.settle();
        return !holds && forces == 0 && contender == null && queue == null;
    }

    // --- events from callers ---

    void onArrived(Waiter waiter) {
        if (tenure.tryBarge(waiter)) {
            return;
        }
        boolean idle = !isContending() && !tenure.isActive();
        if (!idle && waiter.makesOneAttempt()) {
            // Held or contended for here already: a command could tell nothing new.
            timeOut(waiter);
            return;
        }
        waiters().add(waiter);
        if (idle) {
            contention().begin();
        }
        waiter.command = contender == null ? null : contender.commandUnderWay();
    }

    /**
     * Begins an attempt for a waiter that wants this name together with others. The caller sends one command for all of
     * them.
     *
     * @return null if the name is in use here
     */
    @Nullable
    Attempt reserve(Waiter waiter) {
        if (!isFree()) {
            return null;
        }
        waiters().add(waiter);
        return contention().beginMulti(waiter);
    }

    /** The command for several names was not sent, or has changed nothing. */
    void onMultiUnchanged(Waiter waiter, Attempt attempt) {
        if (waiter.state == Waiter.State.PENDING) {
            waiters().remove(waiter);
            waiter.foundBusy = true;
            effects.failWaiter(waiter, Waiter.State.TIMED_OUT, null);
        }
        contention().endMulti(attempt);
        endOverdue();
    }

    /**
     * The command for several names failed. The cause may be another name, so only the waiter that sent the command
     * receives the failure.
     */
    void onMultiFailed(Waiter waiter, Attempt attempt, StoreException error) {
        watchForLate(attempt, error);
        if (tenure.isOf(attempt.holderId)) {
            return;
        }
        if (waiter.state == Waiter.State.PENDING) {
            fail(waiter, StoreErrors.toUser(error, effects.describeStore()));
        }
        if (error.outcome() == StoreException.Outcome.UNKNOWN) {
            effects.abandon(attempt.holderId, attempt.leaseNanos);
        }
        contention().endMulti(attempt);
        endOverdue();
    }

    /** A waiter gives up, or its time has passed. Only called while it is pending. */
    void onLeave(Waiter waiter, Waiter.State outcome, @Nullable LockException why) {
        long rest = outcome == Waiter.State.TIMED_OUT ? contention().firstAnswerDueIn(waiter) : 0;
        if (rest > 0) {
            waiter.overdue = true;
            waiters().hasOverdue = true;
            effects.scheduleTimeout(waiter, rest);
            return;
        }
        waiters().remove(waiter);
        if (outcome == Waiter.State.TIMED_OUT) {
            timeOut(waiter);
        } else {
            effects.failWaiter(waiter, outcome, why);
        }
        contention().giveUpUnawaited();
        tenure.handOutIfOpen();
    }

    boolean isForcing() {
        return forces > 0;
    }

    /**
     * A release by force is about to be sent.
     *
     * @param holder the expected holder; null for whichever has the name
     * @return the hold of this client that it may end
     */
    @Nullable
    Hold onForcing(@Nullable String holder) {
        forces++;
        return holder == null || tenure.isOf(holder) ? tenure.markForced() : null;
    }

    /**
     * That command ended.
     *
     * @param before the hold that {@link #onForcing} returned
     * @param removed whether the store says that it ended one
     */
    void onForced(@Nullable Hold before, boolean removed) {
        forces--;
        tenure.onForced(before, removed);
        contention().onForced();
    }

    /**
     * The client is closed: everything ends.
     *
     * @param closer the thread that closes the client, unless it is not known
     */
    void onClosed(LockClientClosedException why, @Nullable Thread closer) {
        failAll(why);
        tenure.onClosed(closer);
    }

    // --- events from the store ---

    void onAcquired(Attempt attempt, ClockReading sent, @Nullable AcquireReply reply, @Nullable Throwable error) {
        watchForLate(attempt, error);
        // A pushed grant may have overtaken the answer.
        if (!tenure.isOf(attempt.holderId)) {
            contention().onAcquired(attempt, sent, reply, error);
        }
        endOverdue();
    }

    void onRequeued(Attempt attempt, ClockReading sent, @Nullable ReleaseReply reply, @Nullable Throwable error) {
        watchForLate(attempt, error);
        if (!tenure.isOf(attempt.holderId)) {
            contention().onRequeued(attempt, sent, reply, error);
        }
        endOverdue();
    }

    private void watchForLate(Attempt attempt, @Nullable Throwable error) {
        if (error != null && StoreErrors.of(error).outcome() == StoreException.Outcome.UNKNOWN) {
            effects.watchForLate(attempt);
        }
    }

    /** Handles a pushed grant of the name to this holder id. Asking again confirms the grant. */
    void onPushed(String holderId) {
        if (abandonUnlessAwaited(holderId, settings().leaseNanos)) {
            contention().onHint();
        }
    }

    /** The store granted the name by itself, with details that may make the asking unnecessary. */
    void onPushed(PushedGrant grant) {
        if (abandonUnlessAwaited(grant.holderId(), settings().leaseNanos)) {
            contention().onPushed(grant);
            endOverdue();
        }
    }

    /** No command to acquire for this holder id can be executed any more. What a late one took is withdrawn. */
    void onLateAcquiresOver(String holderId, long leaseNanos) {
        abandonUnlessAwaited(holderId, leaseNanos);
    }

    /** Withdraws an id that nothing here uses. Returns whether the id is that of the attempt under way. */
    private boolean abandonUnlessAwaited(String holderId, long leaseNanos) {
        if (contention().isFor(holderId)) {
            return true;
        }
        if (!tenure.isOf(holderId)) {
            effects.abandon(holderId, leaseNanos);
        }
        return false;
    }

    // --- between the parts ---

    void failAll(LockException why) {
        for (Waiter waiter : waiters().drain()) {
            effects.failWaiter(waiter, Waiter.State.FAILED, why);
        }
        contention().giveUpUnawaited();
    }

    /** Ends a wait in the queue. */
    void fail(Waiter waiter, LockException why) {
        waiters().remove(waiter);
        effects.failWaiter(waiter, Waiter.State.FAILED, why);
    }

    /**
     * Ends a wait whose time has passed. The waiter is not in the queue (any more). A store that failed for the last
     * part of the wait, or was silent for all of it, does not make the name busy (engine rule 11).
     */
    void timeOut(Waiter waiter) {
        StoreException error = contention().lastError();
        boolean held = tenure.isActive();
        if (error != null) {
            effects.failWaiter(waiter, Waiter.State.FAILED, StoreErrors.toUser(error, effects.describeStore()));
        } else if (!held && contention().isSilentFor(waiter)) {
            effects.failWaiter(waiter, Waiter.State.FAILED, contention().silence(waiter));
        } else {
            waiter.foundBusy = held || contention().wasBusyFor(waiter);
            waiter.unheardNanos = contention().unheardNanos();
            effects.failWaiter(waiter, Waiter.State.TIMED_OUT, null);
        }
    }

    /** Ends the waits that are over and waited only for the answer that has come. */
    private void endOverdue() {
        if (queue == null || !queue.hasOverdue) {
            return;
        }
        queue.hasOverdue = false;
        Waiter next;
        for (Waiter waiter = queue.first(); waiter != null; waiter = next) {
            next = waiter.after;
            if (waiter.overdue && contention().isUnanswered(waiter)) {
                queue.hasOverdue = true;
            } else if (waiter.overdue) {
                onLeave(waiter, Waiter.State.TIMED_OUT, null);
            }
        }
    }

    /** Returns the length that the store is to give a hold for this waiter. */
    long storeLease(Waiter waiter) {
        return waiter.storeLeaseNanos(settings().leaseNanos);
    }
}
