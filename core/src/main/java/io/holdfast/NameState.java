package io.holdfast;

import io.holdfast.spi.AcquireReply;
import io.holdfast.spi.ClockReading;
import io.holdfast.spi.PushedGrant;
import io.holdfast.spi.ReleaseReply;
import io.holdfast.spi.RenewReply;
import io.holdfast.spi.RenewRequest;
import io.holdfast.spi.StoreException;
import org.jspecify.annotations.Nullable;

/**
 * What this client does about one name: the decisions, as a state machine without I/O, threads or timers. Each method is
 * an event; what follows from it is asked of {@link Effects}. The caller makes events happen one at a time.
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
final class NameState {

    final EngineSettings settings;
    final Effects effects;

    private final Tenure tenure;

    /** Null while nobody waits: most names of a client that holds very many locks. */
    private @Nullable WaitQueue queue;

    /** Null while the name is not asked for, for the same reason. */
    private @Nullable Contention contender;

    /**
     * How many commands of this client are under way that remove whatever hold there is. Meanwhile no tenure begins: a grant that
     * is heard of may have been removed already.
     */
    private int forces;

    NameState(EngineSettings settings, Effects effects) {
        this.settings = settings;
        this.effects = effects;
        this.tenure = new Tenure(this);
    }

    boolean isFree() {
        return forces == 0 && !isContending() && !tenure.isActive() && nobodyWaits();
    }

    boolean isContending() {
        return contender != null && contender.isActive();
    }

    boolean nobodyWaits() {
        return queue == null || queue.isEmpty();
    }

    int waiting() {
        return queue == null ? 0 : queue.size();
    }

    @Nullable
    Waiter firstWaiter() {
        return queue == null ? null : queue.first();
    }

    /** To be used by one event only. */
    WaitQueue waiters() {
        if (queue == null) {
            queue = new WaitQueue();
        }
        return queue;
    }

    /** To be used by one event only. */
    private Contention contention() {
        if (contender == null) {
            contender = new Contention(this);
        }
        return contender;
    }

    /** After each event: gives up what holds nothing. */
    void tidy() {
        if (nobodyWaits()) {
            queue = null;
        }
        if (!isContending()) {
            contender = null;
        }
    }

    @Nullable
    ActiveLease lease() {
        return tenure.lease();
    }

    // --- events from waiters and owners ---

    void arrive(Waiter waiter) {
        if (tenure.tryBarge(waiter)) {
            return;
        }
        boolean idle = !isContending() && !tenure.isActive();
        if (!idle && waiter.makesOneAttempt()) {
            // Held or contended for here already: a command could tell nothing new.
            timedOut(waiter);
            return;
        }
        waiters().add(waiter);
        if (idle) {
            contention().begin();
        }
    }

    /**
     * A waiter that wants this name together with others, for all of which one command will be sent: the attempt to send it
     * for, or null if the name is in use here.
     */
    @Nullable
    Attempt reserve(Waiter waiter) {
        if (!isFree()) {
            return null;
        }
        waiters().add(waiter);
        return contention().beginTogether(waiter);
    }

    /** The command for the names together was not sent, or has changed nothing. */
    void notTakenTogether(Waiter waiter, Attempt attempt) {
        if (waiter.state == Waiter.State.PENDING) {
            waiters().remove(waiter);
            waiter.foundBusy = true;
            effects.ended(waiter, Waiter.State.TIMED_OUT, null);
        }
        contention().notTakenTogether(attempt);
    }

    /**
     * The command for the names together failed. What it failed for may be another name, so it is told to the waiter it was
     * sent for, and to nobody else.
     */
    void failedTogether(Waiter waiter, Attempt attempt, StoreException error) {
        watchForLate(attempt, error);
        if (tenure.isOf(attempt.holderId)) {
            return;
        }
        if (waiter.state == Waiter.State.PENDING) {
            waiters().remove(waiter);
            effects.ended(waiter, Waiter.State.FAILED, new LockStoreException(error, effects.store()));
        }
        contention().failedTogether(attempt, error);
    }

    /** A waiter gives up. Only called while it is pending. */
    void leave(Waiter waiter, Waiter.State outcome) {
        waiters().remove(waiter);
        if (outcome == Waiter.State.TIMED_OUT) {
            timedOut(waiter);
        } else {
            effects.ended(waiter, outcome, null);
        }
        contention().giveUpIfNobodyWaits();
        tenure.waiterLeft();
    }

    /** A nudged thread tries for the lock. Only called while it is pending. */
    void claim(Waiter waiter) {
        tenure.claim(waiter);
    }

    /** The owner released: the lease is in state RELEASED. */
    void released(ActiveLease lease) {
        tenure.released(lease);
    }

    /** The owner released, and the name is to stay locked until then. */
    void retained(ActiveLease lease, long endNanos) {
        tenure.retained(lease, endNanos);
    }

    boolean isForcing() {
        return forces > 0;
    }

    /**
     * A command is about to be sent that removes whatever hold there is on the name.
     *
     * @return the hold of this client that it may remove
     */
    @Nullable
    Hold forcing() {
        forces++;
        return tenure.forcing();
    }

    /**
     * That command ended.
     *
     * @param before the hold that {@link #forcing} returned
     * @param removed whether the store says that it removed one
     */
    void forced(@Nullable Hold before, boolean removed) {
        forces--;
        tenure.forced(before, removed);
        contention().forced();
    }

    /** Somebody looked at a lease and found its time passed. */
    void leaseOver(ActiveLease lease) {
        tenure.leaseOver(lease);
    }

    /** The client is closed: everything ends. */
    void close(LockClientClosedException why) {
        failAll(why);
        tenure.close();
    }

    // --- events from the store ---

    void acquired(Attempt attempt, ClockReading sent, @Nullable AcquireReply reply, @Nullable Throwable error) {
        watchForLate(attempt, error);
        // A pushed grant may have overtaken the answer.
        if (!tenure.isOf(attempt.holderId)) {
            contention().answered(attempt, sent, reply, error);
        }
    }

    void requeued(Attempt attempt, ClockReading sent, @Nullable ReleaseReply reply, @Nullable Throwable error) {
        watchForLate(attempt, error);
        if (!tenure.isOf(attempt.holderId)) {
            contention().requeued(attempt, sent, reply, error);
        }
    }

    private void watchForLate(Attempt attempt, @Nullable Throwable error) {
        if (error != null && StoreErrors.of(error).outcome() == StoreException.Outcome.UNKNOWN) {
            effects.watchForLate(attempt);
        }
    }

    void renewed(
            Hold hold, RenewRequest request, ClockReading sent, @Nullable RenewReply reply, @Nullable Throwable error) {
        tenure.renewed(hold, request, sent, reply, error);
    }

    /** The answer to a renewal that sets the length for the next lease. */
    void prepared(
            Hold hold, RenewRequest request, ClockReading sent, @Nullable RenewReply reply, @Nullable Throwable error) {
        tenure.prepared(hold, request, sent, reply, error);
    }

    /** A message, or the sight of a reconnect: ask now rather than at the next poll. */
    void hint() {
        contention().hint();
    }

    /** The store says that it granted the name to this holder id. Asking again is what confirms it. */
    void pushedGrant(String holderId) {
        if (isAwaited(holderId)) {
            contention().hint();
        }
    }

    /** As above, with what may make the asking unnecessary. */
    void pushedGrant(PushedGrant grant) {
        if (isAwaited(grant.holderId())) {
            contention().pushed(grant);
        }
    }

    /** Whether a grant is for the attempt under way. One that nobody here waits for is given back at once. */
    private boolean isAwaited(String holderId) {
        if (contention().isFor(holderId)) {
            return true;
        }
        if (!tenure.isOf(holderId)) {
            effects.abandon(holderId, settings.leaseNanos);
        }
        return false;
    }

    /**
     * All commands to acquire for this holder id have been executed by now, or never will be. What one of them took after the id
     * was done with is nobody's.
     */
    void unusedLate(String holderId, long leaseNanos) {
        if (!contention().isFor(holderId) && !tenure.isOf(holderId)) {
            effects.abandon(holderId, leaseNanos);
        }
    }

    void contended(String holderId) {
        tenure.contended(holderId);
    }

    /** The store says so by itself, in no answer. */
    void lost(String holderId) {
        tenure.lost(holderId);
    }

    // --- events from time ---

    void poll() {
        contention().poll();
    }

    long renewalLagNanos() {
        return tenure.renewalLagNanos();
    }

    /**
     * The hold's time has come: end what is over, or return the renewal to send.
     *
     * @param sent when the clocks were read, for all that are due together: not after any of their renewals is sent
     * @param jumped whether the wall clock has jumped forward since the last time
     */
    @Nullable
    RenewRequest renewalDue(Hold hold, ClockReading sent, boolean jumped) {
        return tenure.renewalDue(hold, sent, jumped);
    }

    // --- between the parts ---

    /** After a tenure. */
    void startContention() {
        contention().beginAfterTenure();
    }

    void startTenure(Hold hold) {
        tenure.begin(hold);
    }

    /** Continues an attempt that was begun by a release-and-requeue. */
    void continueContention(Attempt attempt) {
        contention().resume(attempt);
    }

    void failAll(LockException why) {
        for (Waiter waiter : waiters().drain()) {
            effects.ended(waiter, Waiter.State.FAILED, why);
        }
        contention().giveUpIfNobodyWaits();
    }

    /** What held the lock when the store last answered; null if that is not known. */
    @Nullable
    String holderElsewhere() {
        return contention().holder();
    }

    void timedOut(Waiter waiter) {
        StoreException error = contention().lastError();
        if (error != null) {
            // The store failed for the last part of the wait: not known to be busy (design rule 11).
            effects.ended(waiter, Waiter.State.FAILED, new LockStoreException(error, effects.store()));
        } else {
            waiter.foundBusy = tenure.isActive() || contention().wasBusyFor(waiter);
            effects.ended(waiter, Waiter.State.TIMED_OUT, null);
        }
    }

    /** How long the store shall give the hold for this waiter: whole milliseconds, as the store can give no others. */
    long storeLease(Waiter waiter) {
        long bound = waiter.boundNanos();
        long length = bound == 0
                ? settings.leaseNanos
                : waiter.options.leaseFor().isPresent() ? bound : Math.min(bound, settings.leaseNanos);
        return length - length % 1_000_000;
    }
}
