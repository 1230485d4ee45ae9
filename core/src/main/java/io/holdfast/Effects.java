package io.holdfast;

import io.holdfast.spi.RenewRequest;
import org.jspecify.annotations.Nullable;

/**
 * What the decisions about a name ask of the world. Replies come back as events of {@link NameState}, possibly before
 * the call returns.
 */
interface Effects {

    /** What they are about. */
    String name();

    /** Describes the store, without secrets. */
    String store();

    /** Sends the attempt's acquire; answered by {@link NameState#acquired}. */
    void sendAcquire(Attempt attempt);

    /** Sends a renewal that sets the length for the next lease; answered by {@link NameState#prepared}. */
    void sendPreparation(Hold hold, RenewRequest request);

    /** Ends a hold; the lease, if there is one, is told the result. A failure is compensated by the receiver. */
    void sendRelease(Hold hold, @Nullable ActiveLease lease);

    /** Leaves a hold at the store until this time, with nobody here who keeps it; the lease is told the result. */
    void sendRetain(Hold hold, ActiveLease lease, long endNanos);

    /**
     * Ends a hold and queues the attempt in one command; answered by {@link NameState#requeued}. A failure is compensated
     * for the hold by the receiver, for the attempt by the answer.
     */
    void sendReleaseAndRequeue(Hold hold, Attempt attempt);

    /** Withdraws an attempt, which may hold nothing, in the background, until the store confirms. */
    void abandon(String holderId, long leaseNanos);

    /** Withdraws a hold, as above. */
    void abandon(Hold hold);

    /**
     * A command of this attempt failed, and may still be executed. {@link NameState#unusedLate} is wanted when that is over;
     * replaces an earlier wish for this attempt.
     */
    void watchForLate(Attempt attempt);

    /** The store said which holder has the name: another client, or a foreign program. */
    void heldBy(String holder);

    /** {@link NameState#poll} is wanted after this time; replaces an earlier wish. */
    void wakeAfter(long delayNanos);

    /** {@link NameState#renewalDue} is wanted at this time; replaces an earlier wish for this hold. */
    void watch(Hold hold, long atNanos);

    /** The hold needs no looking at any more. */
    void forget(Hold hold);

    /** A fresh attempt with a holder id that was never used. */
    Attempt newAttempt(long leaseNanos, boolean queue);

    /** Whether no connection was made anew since the attempt's holder id was made: otherwise another process may have the same id. */
    boolean isCurrent(Attempt attempt);

    /** What a granted attempt became: a hold of this length, counted from no earlier than {@code sinceNanos}. */
    Hold newHold(Attempt attempt, long base, Deadline deadline, long sinceNanos, long leaseNanos);

    /** Wakes a thread to try for itself; answered by {@link NameState#claim}. */
    void nudge(Waiter waiter);

    void granted(Waiter waiter, ActiveLease lease);

    /** The owner's release is done; {@code wasGone}: the hold turned out to have been lost before. */
    void released(ActiveLease lease, boolean wasGone);

    void ended(Waiter waiter, Waiter.State outcome, @Nullable LockException why);

    /** The lease was lost; {@code answered}: the store has just said so, and can be asked for the present holder. */
    void lost(ActiveLease lease, String why, boolean answered);

    /** A renewal of the hold failed. */
    void renewalFailed(Hold hold, Throwable cause);

    /** A renewal of the hold was confirmed. */
    void renewalSucceeded(Hold hold);

    /** The lease is held and renewed without end, and nothing refers to its handle any more. Called once for a lease. */
    void forgotten(ActiveLease lease);
}
