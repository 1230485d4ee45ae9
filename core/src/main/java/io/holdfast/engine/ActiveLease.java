package io.holdfast.engine;

import static java.util.Objects.requireNonNull;

import io.holdfast.Lease;
import io.holdfast.LeaseLostException;
import io.holdfast.LockOptions;
import io.holdfast.LockStoreException;
import io.holdfast.log.Quoted;
import io.holdfast.spi.DurationText;
import io.holdfast.spi.TimeSource;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
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
 * <p>The superclass knows who may release it.
 */
public final class ActiveLease extends LeaseUser implements Lease {

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

    private record Lost(String why) implements End {}

    public static final long NO_LIMIT = Long.MAX_VALUE;

    private static final AtomicReferenceFieldUpdater<ActiveLease, End> END =
            AtomicReferenceFieldUpdater.newUpdater(ActiveLease.class, End.class, "end");

    public final Hold hold;
    public final long grantedNanos;

    /** When a lease with {@code holdAtMost} ends on the monotonic clock, or {@link #NO_LIMIT}. */
    private volatile long limitNanos; // written under the engine's lock

    /** Whether the engine renews it; false for {@code leaseFor}. */
    final boolean renewed;

    /** The number of the lease on its hold. */
    private final int handOff;

    /** Whether a close of the client leaves the lease, because its work may go on. */
    private final boolean leftAtClose;

    /** Whether somebody may work under the lease: its caller waits for no other names. */
    private boolean delivered; // by the engine's lock

    /** Whether it was reported as forgotten. */
    private boolean reportedForgotten; // by the engine's lock

    private volatile @Nullable End end; // set once, through END

    /** Makes the lease that a waiter is granted; {@code handle} is null if a thread owns the lease. */
    ActiveLease(Hold hold, long grantedNanos, Waiter waiter, @Nullable LeaseHandle handle) {
        super(waiter, handle);
        LockOptions options = waiter.options;
        this.hold = hold;
        this.handOff = hold.nextHandOff();
        this.leftAtClose = options.isLeftAtClose();
        this.delivered = !waiter.isPart;
        this.grantedNanos = grantedNanos;
        this.limitNanos =
                options.holdAtMost().map(most -> grantedNanos + most.toNanos()).orElse(NO_LIMIT);
        this.renewed = options.leaseFor().isEmpty();
    }

    /** Returns the engine's part of a lease that a user has; null if it is no lease of an engine. */
    public static @Nullable ActiveLease behind(Lease lease) {
        return lease instanceof LeaseHandle || lease instanceof ActiveLease ? LeaseHandle.active(lease) : null;
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

    /**
     * Returns whether work under it may go on when the client is closed.
     *
     * @param closer the thread that closes the client; null if no thread of a user does
     */
    boolean isUsedAfterCloseBy(@Nullable Thread closer) {
        Thread releaser = releaser();
        boolean isElsewhere = releaser != null && releaser != closer;
        return delivered && !hasEnded() && (leftAtClose || isElsewhere) && mayBeGivenBack();
    }

    /** The caller has all the names that it asked for together. If the client was closed before, the lease is lost. */
    void onDelivered() {
        hold.engine.onDelivered(this);
    }

    /** Called by the engine. */
    void noteDelivered() {
        delivered = true;
    }

    /** A close of the client is about to end the lease, and leaves the hold to the work under it. */
    void noteLeft() {
        if (owner() != null) {
            holds().isLeft = true;
        }
    }

    /** Returns whether the work under a lost lease may still run: its user has not ended it, and still can. */
    boolean isInUse() {
        // A renewed lease may be used for longer than its last deadline; one with an end of its own ends the work.
        boolean isAtEnd = renewed ? isAtLimit() : isOver();
        return holdCount() > 0 && !isReleased() && !isAtEnd && mayBeGivenBack();
    }

    /** Returns the thread without which the lease never ends; null if it is over, or may end in another way. */
    @Nullable
    Thread endlesslyHeldBy() {
        return renewed && !hasLimit() && isHeldNow() ? releaser() : null;
    }

    @Override
    public String name() {
        return hold.engine.name();
    }

    @Override
    public long fencingToken() {
        return Hold.token(hold.base, handOff);
    }

    @Override
    public String holderId() {
        return hold.holderId();
    }

    /** Returns whether it was handed out on a hold that had a lease before. */
    public boolean isHandedOn() {
        return handOff > 0;
    }

    @Override
    public boolean isExclusive() {
        return hold.engine.isExclusive();
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
        return new Answer<@Nullable Void>(
                extension.answer(), nothing -> ensureValid(), hold.engine.callbacks()::execute);
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
        addLossCallback(requireNonNull(callback, "callback"));
        isValid();
        if (end instanceof Lost) {
            runLossCallbacks(hold.engine.callbacks());
        }
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
            if (end instanceof Lost) {
                holds().giveAllBack();
            }
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
