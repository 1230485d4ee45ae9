package io.holdfast.spring.call;

import io.holdfast.Lease;
import io.holdfast.LockClient;
import io.holdfast.LockOptions;
import io.holdfast.LockStoreException;
import io.holdfast.LockTimeoutException;
import io.holdfast.MultiLease;
import io.holdfast.spring.OnLost;
import io.holdfast.spring.declaration.Wanted;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** What a {@link BlockingCall} runs under its locks: a locked method, or a callback of a template. */
interface BlockingWork {

    LockClient client();

    /** Returns the lock names: sorted, without repetition, not empty. */
    Collection<String> names();

    /** Returns what the work wants of the names. */
    Wanted wanted();

    LockOptions options();

    default Duration holdAtLeast() {
        return Duration.ZERO;
    }

    default OnLost onLost() {
        return OnLost.THROW;
    }

    /** Begins the observation. The caller must end it, whatever happens. */
    ObservedCall begin();

    /** Receives the leases that the thread has from outer calls, before the other names are acquired. Not empty. */
    void giveHeld(List<Lease> held);

    /**
     * Checks the transaction of the thread, before names are acquired that no outer call has.
     *
     * @throws IllegalStateException if its reads may be older than the lock, and that is refused
     */
    void checkOuterTransaction();

    /**
     * Receives leases that were acquired for the work.
     *
     * @param isAll whether these are the leases on all names
     */
    void giveAcquired(MultiLease leases, boolean isAll);

    /** Runs the work, once. */
    @Nullable
    Object proceed() throws Throwable;

    /** Refuses a result whose work continues after the release of the locks. */
    default void checkIsDone(@Nullable Object result) {}

    /** Returns or throws the outcome of a call that found a lock busy, and ends the observation. */
    @Nullable
    Object alternative(LockTimeoutException busy, ObservedCall observed) throws Throwable;

    /** Returns the exception for the caller whose lock could not be asked for. */
    default LockStoreException storeFailed(LockStoreException e) {
        return e;
    }

    /** Returns the exception for a caller that was interrupted during the wait. */
    default Exception interrupted(InterruptedException e) {
        return LockedCall.cancelled(names(), e);
    }

    /** Watches the leases, if a loss is to be published as an event. */
    Losses watchLosses(MultiLease leases);
}
