package io.holdfast;

import io.holdfast.spi.ClockReading;
import io.holdfast.spi.StoreException;
import io.holdfast.spi.TimeSource;
import org.jspecify.annotations.Nullable;

/**
 * An acquisition at the store that has not succeeded yet. Guarded by the lock of the name.
 *
 * <p>Every command sent for it has the same holder id, so that sending again is harmless; a new attempt has a new one.
 */
final class Attempt {

    /** Its number, from which its holder id is made. */
    final long acquisition;

    final String holderId;
    final long leaseNanos;

    /** Whether its commands ask for a place in the store's queue. */
    boolean queue;

    /** At most one acquire is under way; a hint that comes meanwhile sets {@link #again}. */
    boolean inFlight;

    boolean again;

    /** Whether the command under way may precede a release by force: its grant may be gone. */
    boolean doubtful;

    /** Whether the store may know it (queued, or a command of unknown outcome): then giving up withdraws it. */
    boolean mayBeKnown;

    /** When the store last gave a good answer, or the attempt began. */
    long lastGoodNanos;

    /** Whether an attempt before it, for no shorter a lease, was granted too late, with no good answer since. */
    boolean afterTooLate;

    /** When the first of these late grants came. */
    long tooLateSinceNanos;

    /** How often it was asked for before the last command. */
    long repetition = -1;

    /** When the last command for it was sent. */
    @Nullable
    ClockReading sent;

    /** The one look for what its failed commands may have left: see {@link Effects#watchForLate}. */
    TimeSource.@Nullable Timer lateCheck;

    int failures;

    @Nullable
    StoreException lastError;

    /** An answer has said that the name is held. */
    boolean busy;

    /** The holder in the last such answer. */
    @Nullable
    String holder;

    /** Whether it follows a hold of this client: local waiters from before it waited behind that. */
    boolean afterTenure;

    private long beganNanos;

    /** The last answer said that the name is held without expiry. */
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

    /** Continues an attempt whose holder id may not be used any more: nothing was sent for this one. */
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

    /** Notes that a command for it is about to be sent. */
    ClockReading markSending(TimeSource time) {
        repetition++;
        sent = ClockReading.now(time);
        return sent;
    }
}
