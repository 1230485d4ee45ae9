package io.holdfast.engine;

import io.holdfast.spi.AcquireRequest;
import io.holdfast.spi.ClockReading;
import io.holdfast.spi.PushedGrant;
import io.holdfast.spi.StoreException;
import io.holdfast.spi.TimeSource;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * An acquisition at the store that has not succeeded yet. Guarded by the lock of the name.
 *
 * <p>Every command of an attempt has the same holder id, so a repetition is harmless. A new attempt has a new id.
 */
final class Attempt {

    /** Its number, from which its holder id is made. */
    final long acquisition;

    final String holderId;
    final long leaseNanos;

    /** Whether its commands ask for a place in the store's queue. */
    boolean queue;

    /** Whether an acquire is under way, at most one. A hint that arrives in the meantime sets {@link #again}. */
    boolean inFlight;

    boolean again;

    /** Ends the wait of a close for the answer to the command under way; null unless the attempt was given up. */
    @Nullable
    Runnable awaited;

    /** Whether the command under way may precede a release by force: its grant may be gone. */
    boolean doubtful;

    /** Whether the store may know it (queued, or a command of unknown outcome): if it is given up, it is withdrawn. */
    boolean mayBeKnown;

    /** When the store last gave a good answer, or the attempt began. */
    long lastGoodNanos;

    /**
     * Whether an earlier attempt, for a lease at least as long, was granted too late, and no usable answer has come
     * since.
     */
    boolean afterTooLate;

    /** When the first of these late grants came. */
    long tooLateSinceNanos;

    /** That of the last command if it asked for a place in the queue; else {@link PushedGrant#NO_NONCE}. */
    private long nonce = PushedGrant.NO_NONCE;

    /** When the last command for it was sent. */
    @Nullable
    ClockReading sent;

    /** The timer of the check for a hold that failed commands may have left: see {@link Effects#watchForLate}. */
    TimeSource.@Nullable Timer lateCheck;

    int failures;

    @Nullable
    StoreException lastError;

    /** Whether an answer has said that the name is held. */
    boolean busy;

    /** The holder in the last such answer. */
    @Nullable
    String holder;

    /** Whether it follows a hold of this client: earlier local waiters waited behind that hold. */
    boolean afterTenure;

    private long beganNanos;

    /** Whether the last answer said that the name is held without expiry. */
    boolean endless;

    Attempt(long acquisition, String holderId, long leaseNanos, boolean queue, long nowNanos) {
        this.acquisition = acquisition;
        this.holderId = holderId;
        this.leaseNanos = leaseNanos;
        this.queue = queue;
        this.lastGoodNanos = nowNanos;
        this.beganNanos = nowNanos;
    }

    /** Returns whether the name is known to have been held while the waiter waited. */
    boolean wasBusyFor(Waiter waiter) {
        return busy || (afterTenure && waiter.arrivedNanos - beganNanos < 0);
    }

    /** Continues an attempt whose holder id may not be used any more: nothing was sent for the new one. */
    Attempt continuing(Attempt before) {
        lastGoodNanos = before.lastGoodNanos;
        afterTooLate = before.afterTooLate;
        tooLateSinceNanos = before.tooLateSinceNanos;
        failures = before.failures;
        lastError = before.lastError;
        busy = before.busy;
        afterTenure = before.afterTenure;
        beganNanos = before.beganNanos;
        endless = before.endless;
        return this;
    }

    /** Lets a close continue, if it waits for the answer that has come. */
    void endAwaited() {
        if (awaited != null) {
            awaited.run();
            awaited = null;
        }
    }

    /** Notes that a command for it is about to be sent. */
    ClockReading markSending(TimeSource time, LongSupplier freshBits) {
        nonce = queue ? freshBits.getAsLong() >>> 2 : PushedGrant.NO_NONCE;
        sent = ClockReading.now(time);
        return sent;
    }

    /** Returns the last command for it, which {@link #markSending} noted. */
    AcquireRequest request(String name, long pollNanos) {
        // In one step: an acquisition of a lock makes no other object for this.
        return new AcquireRequest(
                name, holderId, leaseNanos / 1_000_000, queue, pollNanos / 1_000_000, queue ? nonce : 0);
    }

    /** Returns that of the last command; {@link PushedGrant#NO_NONCE} if that asked for no place in the queue. */
    long nonce() {
        return nonce;
    }
}
