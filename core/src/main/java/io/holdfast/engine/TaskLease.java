package io.holdfast.engine;

import java.time.Duration;
import java.util.concurrent.CompletionStage;

/**
 * The lease of a task under {@code run}, {@code call} or {@code tryRun}: only the task's thread can release it.
 *
 * <p>{@link DeadlockCheck} and the refusal of a wait for itself are certain for such leases because of that.
 */
final class TaskLease extends LeaseHandle {

    TaskLease(Hold hold, long grantedNanos, Waiter waiter) {
        super(hold, grantedNanos, waiter);
    }

    @Override
    public void releaseHoldingAtLeast(Duration holdAtLeast) {
        lease.ensureReleasedByItsThread();
        super.releaseHoldingAtLeast(holdAtLeast);
    }

    @Override
    public CompletionStage<Void> releaseHoldingAtLeastAsync(Duration holdAtLeast) {
        lease.ensureReleasedByItsThread();
        return super.releaseHoldingAtLeastAsync(holdAtLeast);
    }
}
