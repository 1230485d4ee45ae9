package io.holdfast.engine;

import io.holdfast.Lease;
import io.holdfast.log.Quoted;
import java.lang.ref.Reference;
import java.time.Duration;
import java.util.concurrent.CompletionStage;

/**
 * The user's part of a lease. The engine keeps the {@link ActiveLease} behind it and refers to this object only weakly,
 * so that it notices a lease that its user forgot.
 *
 * <p>Each method that ends the lease keeps this object reachable until it returns: a lease that is being released is
 * not forgotten.
 */
sealed class LeaseHandle implements Lease {

    final ActiveLease lease;

    LeaseHandle(Hold hold, long grantedNanos, Waiter waiter) {
        // The engine receives a weak reference to an object under construction, and asks only whether it was collected.
        this.lease = new ActiveLease(hold, grantedNanos, waiter, this);
    }

    /** Returns the engine's part of a lease that a user has. */
    static ActiveLease active(Lease lease) {
        return lease instanceof LeaseHandle handle ? handle.lease : (ActiveLease) lease;
    }

    @Override
    public String name() {
        return lease.name();
    }

    @Override
    public long fencingToken() {
        return lease.fencingToken();
    }

    @Override
    public String holderId() {
        return lease.holderId();
    }

    @Override
    public boolean isExclusive() {
        return lease.isExclusive();
    }

    @Override
    public boolean isValid() {
        return lease.isValid();
    }

    @Override
    public Duration remaining() {
        return lease.remaining();
    }

    @Override
    public void ensureValid() {
        lease.ensureValid();
    }

    @Override
    public void extend(Duration time) {
        try {
            lease.extend(time);
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    @Override
    public CompletionStage<Void> extendAsync(Duration time) {
        return lease.extendAsync(time);
    }

    @Override
    public void onLost(Runnable callback) {
        lease.onLost(callback);
    }

    @Override
    public void releaseHoldingAtLeast(Duration holdAtLeast) {
        try {
            lease.releaseHoldingAtLeast(holdAtLeast);
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    @Override
    public CompletionStage<Void> releaseHoldingAtLeastAsync(Duration holdAtLeast) {
        try {
            return lease.releaseHoldingAtLeastAsync(holdAtLeast);
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    @Override
    public String toString() {
        return lease.toString();
    }

    /**
     * The lease of a task under {@code run}, {@code call} or {@code tryRun}: only the task's thread can release it.
     *
     * <p>{@link DeadlockCheck} and the refusal of a wait for itself are certain for such leases because of that.
     */
    static final class TaskLease extends LeaseHandle {

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
}
