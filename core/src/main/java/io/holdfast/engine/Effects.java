package io.holdfast.engine;

import io.holdfast.LockException;
import io.holdfast.spi.RenewRequest;
import org.jspecify.annotations.Nullable;

/**
 * What {@link NameState} asks of the world. An answer comes back as an event of the state, possibly before the call
 * returns. Each method is called under the lock of the name.
 */
interface Effects {

    String name();

    /** Returns the name at the store; that of a lock is its own. */
    String storedName();

    EngineSettings settings();

    /** Returns the rules of renewal with these settings. */
    Upkeep upkeep();

    /** See {@link EventLock#described}. */
    String described();

    /** See {@link EventLock#isPlural}. */
    boolean isPlural();

    /** Describes the store, without secrets. */
    String describeStore();

    // --- commands ---

    /** Sends the attempt's acquire; answered by {@link NameState#onAcquired}. */
    void sendAcquire(Attempt attempt);

    /** Sends a renewal that sets the length for the next lease; answered by {@link Tenure#onPrepared}. */
    void sendPreparation(Hold hold, RenewRequest request);

    /** Sends a renewal that gives the lease that is out a new time; answered by {@link LeaseExtension#onAnswered}. */
    void sendExtension(Hold hold, LeaseExtension extension, RenewRequest request);

    /** Ends a hold, and then the lease, if there is one. The receiver compensates a failure. */
    void sendRelease(Hold hold, @Nullable ActiveLease lease);

    /** Leaves a hold at the store until its lease has run out, because the work under this lost lease may go on. */
    void leave(Hold hold, ActiveLease lease);

    /** Leaves a hold at the store until this time, without renewing it; then ends the lease. */
    void sendRetain(Hold hold, ActiveLease lease, long endNanos);

    /**
     * Ends a hold and queues the attempt in one command; answered by {@link NameState#onRequeued}. The receiver
     * compensates a failure for the hold, and the answer does so for the attempt.
     */
    void sendReleaseAndRequeue(Hold hold, Attempt attempt);

    /** Withdraws a holder id, which may hold nothing, in the background, until the store confirms. */
    void abandon(String holderId, long leaseNanos);

    /** Withdraws a hold in the same way. */
    void abandon(Hold hold);

    /**
     * Lets a close of the client wait for the answer to the command of an attempt that was given up: only then is it
     * known what to withdraw. Returns the end of that wait.
     */
    Runnable awaitAnswer();

    // --- timers ---

    /**
     * Requests {@link NameState#onLateAcquiresOver} for when a failed command of this attempt can no longer be
     * executed; replaces an earlier request for this attempt.
     */
    void watchForLate(Attempt attempt);

    /** Requests the end of a wait by {@link NameState#onLeave} after this time. */
    void scheduleTimeout(Waiter waiter, long delayNanos);

    /** Requests {@link Contention#onPoll} after this time; replaces an earlier request. */
    void schedulePoll(long delayNanos);

    /**
     * Requests {@link Tenure#onRenewalDue} at this time; replaces an earlier request for this hold. A hold that is
     * released, left, retained or abandoned is never due again.
     */
    void watch(Hold hold, long atNanos);

    // --- what is made ---

    /** Makes an attempt with a holder id that was never used. */
    Attempt newAttempt(long leaseNanos, boolean queue);

    /** Returns whether no connection was made since: otherwise another process may have the same id. */
    boolean isCurrent(Attempt attempt);

    /** Makes the hold of a granted attempt, of this length, counted from no earlier than {@code sinceNanos}. */
    Hold newHold(Attempt attempt, long base, Deadline deadline, long sinceNanos, long leaseNanos);

    // --- outcomes ---

    /** Shows which lease is out after an event, if any, to threads that ask whether it is theirs. */
    void publish(@Nullable ActiveLease lease);

    /** Wakes a thread to try for the lock itself; answered by {@link Tenure#handOutIfOpen}. */
    void nudge(Waiter waiter);

    /** Gives the waiter its lease. */
    void completeWaiter(Waiter waiter, ActiveLease lease);

    /** Ends the wait without a lease; {@code why} is null if nothing failed. */
    void failWaiter(Waiter waiter, Waiter.State outcome, @Nullable LockException why);

    /** Ends the owner's release; {@code wasGone} says that the hold had been lost before. */
    void endLease(ActiveLease lease, boolean wasGone);

    /** Answers the caller of an extension; {@code error} is the store's, or null. */
    void endExtension(LeaseExtension extension, @Nullable Throwable error);

    /**
     * Ends a lease as lost and reports that, unless the owner was faster. {@code answered} says that the store answers,
     * and can be asked for the present holder.
     */
    void reportLoss(ActiveLease lease, String why, boolean answered);

    void reportRenewalFailure(Hold hold, Throwable cause);

    void reportRenewalSuccess(Hold hold);

    /** Reports a lease that is renewed without end, and that no user can release. Called once for a lease. */
    void reportForgotten(ActiveLease lease);

    /** Reports which holder has the name, as the store said: another client, or a foreign program. */
    void reportHolder(String holder);
}
