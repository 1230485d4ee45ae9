package io.holdfast.engine;

import static java.util.Objects.requireNonNull;

import io.holdfast.DistributedLock;
import io.holdfast.Lease;
import io.holdfast.LeaseLostException;
import io.holdfast.LockOptions;
import io.holdfast.LockStoreException;
import io.holdfast.spi.DurationText;
import io.holdfast.spi.TimeSource;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
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
 *   HELD → LOST        by the engine (deadline, store, close), or by the caller that finds the deadline passed
 * </pre>
 *
 * <p>Invariant: {@code isValid()} ⇒ HELD and neither the hold's deadline nor the lease's own limit has passed.
 * Each call reads the clock, so validity ends in time even if no thread of the client runs.
 *
 * <p>Invariant: from the delivery of a lease on, the engine refers strongly to its handle only through the user's loss
 * callbacks. So when the handle has been collected, the user cannot release the lease any more. This object is the weak
 * reference to the handle instead of having one, because some clients keep ten thousand leases.
 */
public final class ActiveLease extends WeakReference<LeaseHandle> implements Lease {

    /** RELEASED or LOST; null while HELD. */
    private sealed interface End permits Released, Lost {}

    /**
     * The owner released it.
     *
     * @param answer the engine's answer, given when the store confirmed the release or the lock was passed on: true if
     *     the hold was gone already; a {@link LockStoreException} if the name was to stay locked and the store did not
     *     confirm that
     */
    private record Released(CompletableFuture<Boolean> answer) implements End {}

    private static final class Lost implements End {
        private final String why;

        /** Whether the user has ended the lost lease. */
        private volatile boolean isGivenBack;

        Lost(String why) {
            this.why = why;
        }
    }

    /** What an owner thread has taken. Not in the lease, so that a lost lease does not keep its thread reachable. */
    static final class Holds {
        int count = 1; // by the owner thread
        volatile String lostWhy = "";

        /** Whether the thread has unlocked the lost lock as often as it had taken it. */
        volatile boolean isGivenBack;

        /** Whether a close of the client left the lock to work that goes on: the store may wait for the unlock. */
        boolean isLeft; // before the loss, by the engine's lock
    }

    /** A bit of {@link #handOff}: a close of the client leaves the lease, because its work may go on. */
    private static final int LEFT_AT_CLOSE = 1 << 15;

    /** A bit of {@link #handOff}: the caller still waits for other names, so nobody works under the lease yet. */
    private static final int UNDELIVERED = 1 << 14;

    private static final int HAND_OFF_NUMBER = UNDELIVERED - 1;

    public static final long NO_LIMIT = Long.MAX_VALUE;

    private static final AtomicReferenceFieldUpdater<ActiveLease, End> END =
            AtomicReferenceFieldUpdater.newUpdater(ActiveLease.class, End.class, "end");

    @SuppressWarnings("rawtypes")
    private static final AtomicReferenceFieldUpdater<ActiveLease, Queue> LOSS_CALLBACKS =
            AtomicReferenceFieldUpdater.newUpdater(ActiveLease.class, Queue.class, "lossCallbacks");

    private static final AtomicReferenceFieldUpdater<ActiveLease, Holds> HOLDS =
            AtomicReferenceFieldUpdater.newUpdater(ActiveLease.class, Holds.class, "holds");

    public final Hold hold;
    public final long grantedNanos;

    /** When a lease with {@code holdAtMost} ends on the monotonic clock, or {@link #NO_LIMIT}. */
    private volatile long limitNanos; // written under the engine's lock

    /** Whether the engine renews it; false for {@code leaseFor}. */
    final boolean renewed;

    /** The only thread that releases the lease; null if any thread may. */
    private final @Nullable Thread releaser;

    /**
     * The id of the thread that waited for the lease, or zero: explains the next wait of the same thread. Negative if
     * the caller has declared that that thread releases the lease: a field of its own would make each lease larger.
     */
    private final long takenBy;

    /**
     * How often the owner thread took the lock. Null while the thread took it once and has not lost it, which is true
     * of most locks of a client that holds ten thousand.
     */
    private volatile @Nullable Holds holds; // made once

    /**
     * The number of the lease on its hold, which has 14 bits, {@link #LEFT_AT_CLOSE} and {@link #UNDELIVERED}. A char,
     * as in {@link Hold}: an int or one field more would make each lease larger. Only {@link #UNDELIVERED} changes,
     * under the engine's lock.
     */
    private char handOff;

    /** Null unless the client was asked to remember anything of it. */
    public final @Nullable Origin origin;

    /** Whether it was reported as forgotten. */
    private boolean reportedForgotten; // by the engine's lock

    private volatile @Nullable End end; // set once, through END
    private volatile @Nullable Queue<Runnable> lossCallbacks; // made when the first is registered

    /** Makes the lease that a waiter is granted; {@code handle} is null if a thread owns the lease. */
    ActiveLease(Hold hold, long grantedNanos, Waiter waiter, @Nullable LeaseHandle handle) {
        super(handle);
        LockOptions options = waiter.options;
        this.hold = hold;
        this.handOff = (char) (hold.nextHandOff()
                | (options.isLeftAtClose() ? LEFT_AT_CLOSE : 0)
                | (waiter.isPart ? UNDELIVERED : 0));
        this.grantedNanos = grantedNanos;
        this.limitNanos =
                options.holdAtMost().map(most -> grantedNanos + most.toNanos()).orElse(NO_LIMIT);
        this.renewed = options.leaseFor().isEmpty();
        boolean declared = waiter.owner == null && options.isReleasedByThread();
        this.releaser = declared ? waiter.parked : waiter.owner;
        this.takenBy = declared ? -waiter.threadId() : waiter.threadId();
        this.origin = waiter.origin();
    }

    /** Returns the user's handle while there is one, so that an observer does not need to know this class. */
    Lease asSeen() {
        LeaseHandle handle = get();
        return handle == null ? this : handle;
    }

    /**
     * Returns true once if the user of a lease without an end of its own cannot release it any more. A lease with an
     * end of its own is reported as lost when it ends.
     */
    boolean noticeForgotten() {
        if (reportedForgotten || owner() != null || !renewed || hasLimit() || hasEnded()) {
            return false;
        }
        // Not get(): during the marking of a collector it would keep the handle until the next collection.
        reportedForgotten = refersTo(null);
        return reportedForgotten;
    }

    /** Returns whether the thread with this id waited for the lease; zero is no thread. */
    boolean wasTakenBy(long threadId) {
        return threadId != 0 && Math.abs(takenBy) == threadId;
    }

    /** Returns the thread that owns it as a {@link DistributedLock}, or null: then the lease itself is the owner. */
    @Nullable
    public Thread owner() {
        return takenBy < 0 ? null : releaser;
    }

    /**
     * Returns whether work under it may go on when the client is closed.
     *
     * @param closer the thread that closes the client; null if no thread of a user does
     */
    boolean isUsedAfterCloseBy(@Nullable Thread closer) {
        boolean inCall = (handOff & LEFT_AT_CLOSE) != 0;
        boolean delivered = (handOff & UNDELIVERED) == 0;
        return delivered && !hasEnded() && (inCall || (releaser != null && releaser != closer)) && mayBeGivenBack();
    }

    /** The caller has all the names that it asked for together. If the client was closed before, the lease is lost. */
    void onDelivered() {
        hold.engine.onDelivered(this);
    }

    /** Called by the engine. */
    void noteDelivered() {
        handOff &= (char) ~UNDELIVERED;
    }

    /** A close of the client is about to end the lease, and leaves the hold to the work under it. */
    void noteLeft() {
        if (owner() != null) {
            holds().isLeft = true;
        }
    }

    /** Returns whether the work under a lost lease may still run: its user has not ended it, and still can. */
    boolean isInUse() {
        boolean isGivenBack = owner() != null ? holds().isGivenBack : end instanceof Lost lost && lost.isGivenBack;
        // A renewed lease may be used for longer than its last deadline; one with an end of its own ends the work.
        boolean isAtEnd = renewed ? isAtLimit() : isOver();
        return !isGivenBack && !isReleased() && !isAtEnd && mayBeGivenBack();
    }

    /** Returns whether the thread that alone releases it is alive; without one, whether a user still refers to it. */
    private boolean mayBeGivenBack() {
        return releaser != null ? releaser.isAlive() : !refersTo(null);
    }

    /** Returns the id of the only thread that releases it; zero if any thread may. */
    @SuppressWarnings("deprecation") // threadId() came with Java 19
    public long releaserId() {
        return releaser == null ? 0 : releaser.getId();
    }

    /** Refuses a release by another thread than its own, while the lease has not ended. */
    void ensureReleasedByItsThread() {
        if (releaser != null && !Thread.currentThread().equals(releaser) && !hasEnded()) {
            throw new IllegalStateException(describe() + " cannot be released by thread "
                    + Quoted.name(Thread.currentThread().getName())
                    + ": run, call or tryRun releases it after the task (expected: a release by thread "
                    + Quoted.name(releaser.getName())
                    + ", or acquire, whose lease any thread may release)");
        }
    }

    /** Returns whether only this thread can end the lease, so that its own wait for the name would never end. */
    boolean endsOnlyBy(Thread thread) {
        return thread.equals(releaser) && renewed && !hasLimit() && isValid();
    }

    /** Returns the thread without which the lease never ends; null if it is over, or may end in another way. */
    @Nullable
    Thread endlesslyHeldBy() {
        return renewed && !hasLimit() && isHeldNow() ? releaser : null;
    }

    @Override
    public String name() {
        return hold.engine.name();
    }

    @Override
    public long fencingToken() {
        return Hold.token(hold.base, handOffNumber());
    }

    @Override
    public String holderId() {
        return hold.holderId();
    }

    private int handOffNumber() {
        return handOff & HAND_OFF_NUMBER;
    }

    /** Returns whether it was handed out on a hold that had a lease before. */
    public boolean isHandedOn() {
        return handOffNumber() > 0;
    }

    /** Only for a lease that a thread owns. */
    @SuppressWarnings("NullAway") // the field is null before: the JDK's signature does not allow for that
    Holds holds() {
        if (holds == null) {
            HOLDS.compareAndSet(this, null, new Holds());
        }
        return requireNonNull(holds);
    }

    /** Returns how many times the owner thread has taken the lock without an unlock. */
    int holdCount() {
        Holds taken = holds;
        return taken == null ? 1 : taken.count;
    }

    @Override
    public boolean isValid() {
        if (hasEnded()) {
            return false;
        }
        if (!isOver()) {
            return true;
        }
        hold.engine.onLeaseOver(this);
        // A renewal that counted between the reads of deadline and clock means that the lease is not over,
        // and never was.
        return isHeldNow();
    }

    @Override
    public Duration remaining() {
        if (!isValid()) {
            return Duration.ZERO;
        }
        return Duration.ofNanos(leftNanos());
    }

    /** Only for a lease that has not ended. */
    private long leftNanos() {
        TimeSource time = hold.engine.time();
        long remaining = hold.deadline.remainingNanos(time);
        return hasLimit() ? Math.max(0, Math.min(remaining, limitNanos - time.nanoTime())) : remaining;
    }

    @Override
    public void ensureValid() {
        if (isValid()) {
            return;
        }
        if (isReleased()) {
            throw new IllegalStateException("The lease on " + Quoted.name(name()) + " was released");
        }
        throw lostException();
    }

    @Override
    public void extend(Duration time) {
        extending(time).await();
    }

    @Override
    public CompletionStage<Void> extendAsync(Duration time) {
        return extending(time).stage();
    }

    /** Begins an extension. */
    Answer<?> extending(Duration time) {
        LeaseExtension extension =
                new LeaseExtension(this, Limits.checkLease("time", time).toNanos());
        if (isValid()) {
            hold.engine.onExtending(extension);
        } else {
            extension.end(null);
        }
        return new Answer<>(extension.answer(), nothing -> ensureValid(), hold.engine.callbacks()::execute);
    }

    /** Returns when a lease with {@code holdAtMost} ends on the monotonic clock, or {@link #NO_LIMIT}. */
    long limitNanos() {
        return limitNanos;
    }

    boolean hasLimit() {
        return limitNanos != NO_LIMIT;
    }

    /** Moves the limit of a lease with {@code holdAtMost}. Called under the engine's lock. */
    void limitTo(long nanos) {
        limitNanos = nanos;
    }

    @Override
    public void onLost(Runnable callback) {
        requireNonNull(callback, "callback");
        lossCallbacks().add(callback);
        isValid();
        if (end instanceof Lost) {
            runLossCallbacks();
        }
    }

    @SuppressWarnings("NullAway") // the field is null before: the JDK's signature does not allow for that
    private Queue<Runnable> lossCallbacks() {
        if (lossCallbacks == null) {
            LOSS_CALLBACKS.compareAndSet(this, null, new ConcurrentLinkedQueue<Runnable>());
        }
        return requireNonNull(lossCallbacks);
    }

    @Override
    public void releaseHoldingAtLeast(Duration holdAtLeast) {
        end(Limits.checkWait("holdAtLeast", holdAtLeast)).await();
    }

    @Override
    public CompletionStage<Void> releaseHoldingAtLeastAsync(Duration holdAtLeast) {
        return end(Limits.checkWait("holdAtLeast", holdAtLeast)).stage();
    }

    /** Begins the release. */
    Answer<?> end(Duration holdAtLeast) {
        CompletableFuture<Boolean> answer = tryRelease(holdAtLeast.toNanos());
        return answer != null
                ? new Answer<>(answer, this::throwIfGone, hold.engine.callbacks()::execute)
                : new Answer<>(CompletableFuture.completedFuture(!isReleased()), this::throwIfLost, Runnable::run);
    }

    private void throwIfGone(boolean wasGone) {
        if (wasGone) {
            throw lostException("at its release the store no longer knew it");
        }
    }

    private void throwIfLost(boolean wasLost) {
        if (wasLost) {
            throw lostException();
        }
    }

    /** Releases a lease that its owner never received. */
    void releaseQuietly() {
        var unused = tryRelease(0);
    }

    /** Returns the longest time it can last, renewals included; {@link #NO_LIMIT} if there is no limit. */
    public long mostRemainingNanos() {
        if (!renewed) {
            // Not the deadline: a store may promise this length in parts.
            return hold.asked.remainingNanos(hold.engine.time());
        }
        return hasLimit() ? Math.max(0, limitNanos - hold.engine.time().nanoTime()) : NO_LIMIT;
    }

    /** Returns the longest time that its hold can last if nobody renews it any more. */
    public long unrenewedNanos() {
        return Math.min(hold.deadline.remainingNanos(hold.engine.time()), mostRemainingNanos());
    }

    /** As {@link #isValid()}, but without an event for the engine: for observers of a simulation. */
    boolean isHeldNow() {
        return !hasEnded() && !isOver();
    }

    boolean hasEnded() {
        return end != null;
    }

    boolean isReleased() {
        return end instanceof Released;
    }

    /** Returns whether its time has passed, by the clocks alone. */
    boolean isOver() {
        return hold.deadline.hasPassed(hold.engine.time()) || isAtLimit();
    }

    boolean isAtLimit() {
        return hasLimit() && isAtLimit(hold.engine.time().nanoTime());
    }

    /** Returns whether it was at its limit at this instant. */
    boolean isAtLimit(long nowNanos) {
        return hasLimit() && nowNanos - limitNanos >= 0;
    }

    /** Called by the engine: HELD → LOST. Returns false if the lease had ended before. */
    boolean lose(String why) {
        if (owner() != null) {
            holds().lostWhy = why;
        }
        return endAs(new Lost(why));
    }

    /** Returns false if the lease had ended before. */
    @SuppressWarnings("NullAway") // the field is null before: the JDK's signature does not allow for that
    private boolean endAs(End ended) {
        return END.compareAndSet(this, null, ended);
    }

    void runLossCallbacks() {
        Queue<Runnable> callbacks = lossCallbacks;
        if (callbacks == null) {
            return;
        }
        for (Runnable callback = callbacks.poll(); callback != null; callback = callbacks.poll()) {
            hold.engine.callbacks().executeLoss(callback);
        }
    }

    /** Called by the engine, once, after the owner released. */
    void end(boolean wasGone) {
        if (end instanceof Released released) {
            released.answer.complete(wasGone);
        }
    }

    /** Called by the engine instead of {@link #end(boolean)}: the store did not confirm what the release asked for. */
    void endFailed(LockStoreException why) {
        if (end instanceof Released released) {
            released.answer.completeExceptionally(why);
        }
    }

    /** Returns the engine's answer; null if the lease had ended before. */
    private @Nullable CompletableFuture<Boolean> tryRelease(long holdAtLeastNanos) {
        CompletableFuture<Boolean> answer = new CompletableFuture<>();
        if (!isValid() || !endAs(new Released(answer))) {
            noteGivenBack();
            return null;
        }
        long endNanos = grantedNanos + holdAtLeastNanos;
        if (holdAtLeastNanos > 0 && endNanos - hold.engine.time().nanoTime() > 0) {
            hold.engine.onRetained(this, endNanos);
        } else {
            hold.engine.onReleased(this);
        }
        return answer;
    }

    private void noteGivenBack() {
        if (end instanceof Lost lost) {
            lost.isGivenBack = true;
            if (owner() != null) {
                holds().isGivenBack = true;
            }
        }
    }

    LeaseLostException lostException() {
        return lostException(end instanceof Lost lost ? lost.why : "");
    }

    LeaseLostException lostException(String why) {
        return new LeaseLostException(describe() + " was lost: " + why);
    }

    /** Names the lease, to begin a sentence with. */
    public String describe() {
        return describe(name(), fencingToken());
    }

    public static String describe(String name, long fencingToken) {
        return "The lease on " + Quoted.name(name) + " with token " + fencingToken;
    }

    /** For people and logs. Changes nothing: a lease whose time has passed ends at the next {@link #isValid}. */
    @Override
    public String toString() {
        return "Lease[" + Quoted.name(name()) + ", token " + fencingToken() + ", " + stateText() + "]";
    }

    private String stateText() {
        if (end instanceof Lost lost) {
            return "lost: " + lost.why;
        }
        if (isReleased()) {
            return "released";
        }
        return isOver()
                ? "over"
                : "held, valid for " + DurationText.rounded(Duration.ofNanos(leftNanos()))
                        + (renewed ? " unless renewed" : "");
    }
}
