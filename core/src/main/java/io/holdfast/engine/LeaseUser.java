package io.holdfast.engine;

import static java.util.Objects.requireNonNull;

import io.holdfast.DistributedLock;
import io.holdfast.LockTracer;
import java.lang.ref.WeakReference;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicReferenceFieldUpdater;
import org.jspecify.annotations.Nullable;

/**
 * The user of an {@link ActiveLease}: one thread, or the code that has the {@link LeaseHandle}. Keeps what the user
 * wants to run when the lease is lost, and where the lease was acquired.
 *
 * <p>Invariant: from the delivery of a lease on, the engine refers strongly to its handle only through the user's loss
 * callbacks. So when the handle has been collected, the user cannot release the lease any more. This object is the weak
 * reference to the handle instead of having one, because some clients keep ten thousand leases.
 */
abstract sealed class LeaseUser extends WeakReference<LeaseHandle> permits ActiveLease {

    private static final AtomicReferenceFieldUpdater<LeaseUser, Holds> HOLDS =
            AtomicReferenceFieldUpdater.newUpdater(LeaseUser.class, Holds.class, "holds");

    @SuppressWarnings("rawtypes")
    private static final AtomicReferenceFieldUpdater<LeaseUser, Queue> LOSS_CALLBACKS =
            AtomicReferenceFieldUpdater.newUpdater(LeaseUser.class, Queue.class, "lossCallbacks");

    /** The only thread that releases the lease; null if any thread may. */
    private final @Nullable Thread releaser;

    /** Whether {@link #releaser} owns the lease, and the user has no handle; false also if there is none. */
    private final boolean owned;

    /** The id of the thread that waited for the lease, or zero: explains the next wait of the same thread. */
    private final long takenBy;

    /**
     * How often the owner thread took the lock. Null while the lease was taken once and not lost, which is true of most
     * locks of a client that holds ten thousand.
     */
    private volatile @Nullable Holds holds; // made once

    private volatile @Nullable Queue<Runnable> lossCallbacks; // made when the first is registered

    /** Null unless the client was asked to remember anything of it. */
    private final @Nullable Origin origin;

    /**
     * Where a lease comes from.
     *
     * @param place the place in the program; null unless {@link EngineSettings#tracesLeases} is set
     * @param traceParent the caller's trace; null without a {@link LockTracer}, or outside a trace
     */
    private record Origin(
            @Nullable Throwable place, @Nullable String traceParent) {}

    LeaseUser(Waiter waiter, @Nullable LeaseHandle handle) {
        super(handle);
        owned = waiter.owner != null;
        releaser = !owned && waiter.options.isReleasedByThread() ? waiter.parked : waiter.owner;
        takenBy = waiter.threadId();
        String trace = waiter.trace == null ? null : waiter.trace.traceParent();
        origin = waiter.place == null && trace == null ? null : new Origin(waiter.place, trace);
    }

    /** How often a lease was taken. Not in the lease, so that a lost lease does not keep its thread reachable. */
    static final class Holds {

        /** Zero if the user has given the lease back, even a lost one. */
        volatile int count = 1; // by the owner thread; without one, to zero when the lost lease is released

        /** How many of these are reads under the write lock; zero for any other lease. */
        int reads; // by the owner thread

        volatile String lostWhy = "";

        /** Whether a close of the client left the lock to work that goes on: the store may wait for the unlock. */
        boolean isLeft; // before the loss, by the engine's lock

        /** Counts that the owner thread took the lock once more. */
        void takeAgain() {
            count = Math.incrementExact(count);
        }

        /** Counts that the owner thread unlocked the lock once. */
        void giveBack() {
            count = Math.decrementExact(count);
        }

        void giveAllBack() {
            count = 0;
        }
    }

    /** Returns the thread that owns it as a {@link DistributedLock}, or null: then the lease itself is the owner. */
    @Nullable
    public Thread owner() {
        return owned ? releaser : null;
    }

    /** Returns the only thread that releases the lease; null if any thread may. */
    @Nullable
    final Thread releaser() {
        return releaser;
    }

    /** Returns the id of the only thread that releases it; zero if any thread may. */
    @SuppressWarnings("deprecation") // threadId() came with Java 19
    public long releaserId() {
        return releaser == null ? 0 : releaser.getId();
    }

    /** Returns whether the thread with this id waited for the lease; zero is no thread. */
    final boolean wasTakenBy(long threadId) {
        return threadId != 0 && takenBy == threadId;
    }

    /** Returns where the lease was acquired; null if nobody was asked to remember that. */
    final @Nullable Throwable place() {
        return origin == null ? null : origin.place;
    }

    /** Returns the trace in which the lease was acquired; null if there is none. */
    public final @Nullable String traceParent() {
        return origin == null ? null : origin.traceParent;
    }

    /** Returns whether the thread that alone releases it is alive; without one, whether a user still refers to it. */
    final boolean mayBeGivenBack() {
        // Not get(): during the marking of a collector it would keep the handle until the next collection.
        return releaser != null ? releaser.isAlive() : !refersTo(null);
    }

    /** Returns how many times the lease was taken and not given back. */
    final int holdCount() {
        Holds taken = holds;
        return taken == null ? 1 : taken.count;
    }

    @SuppressWarnings("NullAway") // the field is null before: the JDK's signature does not allow for that
    final Holds holds() {
        if (holds == null) {
            HOLDS.compareAndSet(this, null, new Holds());
        }
        return requireNonNull(holds);
    }

    final void addLossCallback(Runnable callback) {
        lossCallbacks().add(callback);
    }

    @SuppressWarnings("NullAway") // the field is null before: the JDK's signature does not allow for that
    final Queue<Runnable> lossCallbacks() {
        if (lossCallbacks == null) {
            LOSS_CALLBACKS.compareAndSet(this, null, new ConcurrentLinkedQueue<Runnable>());
        }
        return requireNonNull(lossCallbacks);
    }

    /** Runs each callback that was registered until now and did not run yet. */
    final void runLossCallbacks(Callbacks executors) {
        Queue<Runnable> callbacks = lossCallbacks;
        if (callbacks == null) {
            return;
        }
        for (Runnable callback = callbacks.poll(); callback != null; callback = callbacks.poll()) {
            executors.executeLoss(callback);
        }
    }
}
