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
        ensureOwnThread();
        super.releaseHoldingAtLeast(holdAtLeast);
    }

    @Override
    public CompletionStage<Void> releaseHoldingAtLeastAsync(Duration holdAtLeast) {
        ensureOwnThread();
        return super.releaseHoldingAtLeastAsync(holdAtLeast);
    }

    /** Refuses a release by another thread, while the lease has not ended. */
    private void ensureOwnThread() {
        Thread releaser = lease.releaser();
        if (releaser != null && !Thread.currentThread().equals(releaser) && !lease.hasEnded()) {
            throw new IllegalStateException(lease.describe() + " cannot be released by thread "
                    + Quoted.name(Thread.currentThread().getName())
                    + ": run, call or tryRun releases it after the task (expected: a release by thread "
                    + Quoted.name(releaser.getName())
                    + ", or acquire, whose lease any thread may release)");
        }
    }
}
