package io.holdfast;

import static java.util.Objects.requireNonNull;

import io.holdfast.spi.DurationText;
import io.holdfast.spi.TimeSource;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicReferenceFieldUpdater;
import org.jspecify.annotations.Nullable;

/**
 * The engine's part of a lease that was handed out. The user has a {@link LeaseHandle} for it, unless a thread owns the
 * lease.
 *
 * <p>Possible state transitions:
 *
 * <pre>
 *   HELD → RELEASED    by the owner, if the deadline has not passed
 *   HELD → LOST        by the engine (deadline, store, close), or by whoever finds the deadline passed
 * </pre>
 *
 * <p>Invariant: {@code isValid()} ⇒ state is HELD and neither the hold's deadline nor the lease's own limit has passed.
 * The clock is asked each time, so validity ends in time even if no thread of ours runs.
 *
 * <p>Invariant: from the delivery of a lease on, the engine refers strongly to its handle only through the user's loss
 * callbacks. So when the handle has been collected, the user cannot release the lease any more. This object is the weak
 * reference to the handle, and does not have one, because some clients keep very many leases.
 */
final class ActiveLease extends WeakReference<LeaseHandle> implements Lease {

    enum State {
        HELD,
        RELEASED,
        LOST
    }

    /** What a thread has taken, apart from the lease so that a lost lease does not keep its thread reachable. */
    static final class Holds {
        int count = 1; // by the owner thread
        volatile String lostWhy = "";
    }

    static final long NO_LIMIT = Long.MAX_VALUE;

    private static final AtomicReferenceFieldUpdater<ActiveLease, State> STATE =
            AtomicReferenceFieldUpdater.newUpdater(ActiveLease.class, State.class, "state");

    @SuppressWarnings("rawtypes")
    private static final AtomicReferenceFieldUpdater<ActiveLease, Queue> LOSS_CALLBACKS =
            AtomicReferenceFieldUpdater.newUpdater(ActiveLease.class, Queue.class, "lossCallbacks");

    private static final AtomicReferenceFieldUpdater<ActiveLease, Holds> HOLDS =
            AtomicReferenceFieldUpdater.newUpdater(ActiveLease.class, Holds.class, "holds");

    final Hold hold;
    final long grantedNanos;

    /** When a lease with {@code holdAtMost} ends on the monotonic clock, or {@link #NO_LIMIT}. */
    final long limitNanos;

    /** Whether the engine renews it; false for {@code leaseFor}. */
    final boolean renewed;

    /** The thread that owns it as a {@link DistributedLock}, or null: then the lease itself is the owner. */
    final @Nullable Thread owner;

    /** The id of the thread that waited for it, or zero if none did: so that this thread's next wait can be explained. */
    final long takenBy;

    /**
     * How often the owner thread took it. Null until that matters: as long as it was taken once, and not lost, as most are
     * of very many locks held.
     */
    private volatile @Nullable Holds holds; // made once

    /** Which one of the leases on its hold it is. A char, as in {@link Hold}: an int would make each lease larger. */
    private final char handOff;

    /** Where the caller asked for the lease; null unless {@link EngineSettings#tracesLeases} is set. */
    final @Nullable Throwable acquisition;

    /** Whether it was reported as forgotten. */
    private boolean reportedForgotten; // by the engine's lock

    private volatile String lostWhy = "";
    private volatile State state = State.HELD; // changed through STATE only
    private volatile @Nullable Queue<Runnable> lossCallbacks; // made when the first is registered

    /**
     * Completed by the engine once the release is confirmed or passed on; with true if the hold was gone already; with a {@link
     * LockStoreException} if the name was to stay locked, and the store did not confirm that. Made by the one who releases,
     * before the engine hears of it.
     */
    private @Nullable CompletableFuture<Boolean> ended;

    /** Makes the lease that a waiter is granted; {@code handle} is null if a thread owns the lease. */
    ActiveLease(
            Hold hold,
            long grantedNanos,
            long limitNanos,
            boolean renewed,
            Waiter waiter,
            @Nullable LeaseHandle handle) {
        super(handle);
        this.hold = hold;
        this.handOff = (char) hold.nextHandOff();
        this.grantedNanos = grantedNanos;
        this.limitNanos = limitNanos;
        this.renewed = renewed;
        this.owner = waiter.owner;
        this.takenBy = waiter.threadId();
        this.acquisition = waiter.acquisition;
    }

    /** Returns the user's handle while there is one, so that an observer does not need to know this class. */
    Lease asSeen() {
        LeaseHandle handle = get();
        return handle == null ? this : handle;
    }

    /**
     * Tells the engine, once, that a lease without an end of its own cannot be released by its user any more. A lease with
     * an end of its own is reported as lost when it ends.
     */
    boolean noticeForgotten() {
        if (reportedForgotten || owner != null || !renewed || limitNanos != NO_LIMIT || state != State.HELD) {
            return false;
        }
        // Not get(): while a collector is marking, that would keep the handle until the next collection.
        reportedForgotten = refersTo(null);
        return reportedForgotten;
    }

    @Override
    public String name() {
        return hold.engine.name();
    }

    @Override
    public long fencingToken() {
        return hold.token(handOff);
    }

    /** Only for a lease that a thread owns. */
    @SuppressWarnings("NullAway") // null is what the field holds before: the JDK does not say that it may
    Holds holds() {
        if (holds == null) {
            HOLDS.compareAndSet(this, null, new Holds());
        }
        return requireNonNull(holds);
    }

    /** How often the owner thread took it and did not give it back. */
    int holdCount() {
        Holds taken = holds;
        return taken == null ? 1 : taken.count;
    }

    @Override
    public boolean isValid() {
        if (state != State.HELD) {
            return false;
        }
        if (!isOver()) {
            return true;
        }
        hold.engine.onLeaseOver(this);
        // If a renewal was counted between the looks at deadline and clock, it is not over, and never was.
        return state == State.HELD && !isOver();
    }

    @Override
    public Duration remaining() {
        if (!isValid()) {
            return Duration.ZERO;
        }
        return Duration.ofNanos(leftNanos());
    }

    /** Of what has not ended. */
    private long leftNanos() {
        TimeSource time = hold.engine.time();
        long remaining = hold.deadline.remainingNanos(time);
        return limitNanos == NO_LIMIT ? remaining : Math.max(0, Math.min(remaining, limitNanos - time.nanoTime()));
    }

    @Override
    public void ensureValid() {
        if (isValid()) {
            return;
        }
        if (state == State.RELEASED) {
            throw new IllegalStateException("The lease on " + Quoted.name(name()) + " was released");
        }
        throw lostException();
    }

    @Override
    public void onLost(Runnable callback) {
        requireNonNull(callback, "callback");
        lossCallbacks().add(callback);
        isValid();
        if (state == State.LOST) {
            runLossCallbacks();
        }
    }

    @SuppressWarnings("NullAway") // null is what the field holds before: the JDK does not say that it may
    private Queue<Runnable> lossCallbacks() {
        if (lossCallbacks == null) {
            LOSS_CALLBACKS.compareAndSet(this, null, new ConcurrentLinkedQueue<Runnable>());
        }
        return requireNonNull(lossCallbacks);
    }

    @Override
    public void release() {
        end(Duration.ZERO).await();
    }

    @Override
    public void release(Duration holdAtLeast) {
        end(Limits.checkWait("holdAtLeast", holdAtLeast)).await();
    }

    @Override
    public CompletionStage<Void> releaseAsync() {
        return end(Duration.ZERO).stage();
    }

    @Override
    public CompletionStage<Void> releaseAsync(Duration holdAtLeast) {
        return end(Limits.checkWait("holdAtLeast", holdAtLeast)).stage();
    }

    /** A release that was begun: its answer can be waited for by a thread or by a stage. */
    final class Ending {

        private final boolean began;

        private Ending(boolean began) {
            this.began = began;
        }

        /** Waits for the store's answer, also when interrupted: that is bounded by the store's command timeout. */
        void await() {
            if (!began) {
                if (state == State.LOST) {
                    throw lostException();
                }
            } else if (wasGone()) {
                throw unknownAtRelease();
            }
        }

        private boolean wasGone() {
            try {
                return requireNonNull(ended).join();
            } catch (CompletionException e) {
                if (e.getCause() instanceof LockStoreException failed) {
                    throw failed;
                }
                throw e;
            }
        }

        CompletionStage<Void> stage() {
            if (!began) {
                return state == State.RELEASED
                        ? CompletableFuture.completedFuture(null)
                        : CompletableFuture.failedFuture(lostException());
            }
            CompletableFuture<Void> done = new CompletableFuture<>();
            CompletionStage<Boolean> answer = requireNonNull(ended);
            answer.whenComplete((wasGone, failed) -> hold.engine.callbacks().execute(() -> {
                if (failed != null) {
                    done.completeExceptionally(failed);
                } else if (wasGone) {
                    done.completeExceptionally(unknownAtRelease());
                } else {
                    done.complete(null);
                }
            }));
            return done;
        }
    }

    /** Begins the release. */
    Ending end(Duration holdAtLeast) {
        return new Ending(tryRelease(holdAtLeast.toNanos()));
    }

    /** For a lease that its owner never saw. */
    void releaseQuietly() {
        tryRelease(0);
    }

    /** How long it can last at most, renewals included; {@link #NO_LIMIT} if there is no limit. */
    long mostRemainingNanos() {
        if (!renewed) {
            // Not the deadline: a store may promise this length a part at a time.
            return hold.asked.remainingNanos(hold.engine.time());
        }
        return limitNanos == NO_LIMIT
                ? NO_LIMIT
                : Math.max(0, limitNanos - hold.engine.time().nanoTime());
    }

    /** As {@link #isValid()}, but without telling the engine: for observers of a simulation. */
    boolean isHeldNow() {
        return state == State.HELD && !isOver();
    }

    boolean hasEnded() {
        return state != State.HELD;
    }

    /** Whether its time has passed, by the clocks alone. */
    boolean isOver() {
        return hold.deadline.hasPassed(hold.engine.time()) || isAtLimit();
    }

    boolean isAtLimit() {
        return limitNanos != NO_LIMIT && isAtLimit(hold.engine.time().nanoTime());
    }

    /** Whether it was at its limit at this instant. */
    boolean isAtLimit(long nowNanos) {
        return limitNanos != NO_LIMIT && nowNanos - limitNanos >= 0;
    }

    /** By the engine: HELD → LOST. False if it has ended before. */
    boolean lose(String why) {
        lostWhy = why;
        if (owner != null) {
            holds().lostWhy = why;
        }
        return STATE.compareAndSet(this, State.HELD, State.LOST);
    }

    void runLossCallbacks() {
        Queue<Runnable> callbacks = lossCallbacks;
        if (callbacks == null) {
            return;
        }
        for (Runnable callback = callbacks.poll(); callback != null; callback = callbacks.poll()) {
            hold.engine.callbacks().execute(callback);
        }
    }

    /** By the engine, once, after the owner released. */
    void end(boolean wasGone) {
        CompletableFuture<Boolean> awaited = ended;
        if (awaited != null) {
            awaited.complete(wasGone);
        }
    }

    /** By the engine, instead of {@link #end(boolean)}: the store did not confirm what the release asked for. */
    void endFailed(LockStoreException why) {
        CompletableFuture<Boolean> awaited = ended;
        if (awaited != null) {
            awaited.completeExceptionally(why);
        }
    }

    private boolean tryRelease(long holdAtLeastNanos) {
        if (!isValid() || !STATE.compareAndSet(this, State.HELD, State.RELEASED)) {
            return false;
        }
        ended = new CompletableFuture<>();
        long endNanos = grantedNanos + holdAtLeastNanos;
        if (holdAtLeastNanos > 0 && endNanos - hold.engine.time().nanoTime() > 0) {
            hold.engine.onRetained(this, endNanos);
        } else {
            hold.engine.onReleased(this);
        }
        return true;
    }

    private LeaseLostException unknownAtRelease() {
        return new LeaseLostException("The lease on " + Quoted.name(name()) + " with token " + fencingToken()
                + " was lost: at its release the store no longer knew it");
    }

    private LeaseLostException lostException() {
        return new LeaseLostException(
                "The lease on " + Quoted.name(name()) + " with token " + fencingToken() + " was lost: " + lostWhy);
    }

    /** For people and logs. Changes nothing: a lease whose time has passed ends by the next look at its validity. */
    @Override
    public String toString() {
        String now = switch (state) {
            case HELD ->
                isOver()
                        ? "over"
                        : "held, valid for "
                                + DurationText.rounded(Duration.ofNanos(leftNanos()))
                                + (renewed ? " unless renewed" : "");
            case RELEASED -> "released";
            case LOST -> "lost: " + lostWhy;
        };
        return "Lease[" + Quoted.name(name()) + ", token " + fencingToken() + ", " + now + "]";
    }
}
