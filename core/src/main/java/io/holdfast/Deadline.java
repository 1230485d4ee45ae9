package io.holdfast;

import io.holdfast.spi.ClockReading;
import io.holdfast.spi.TimeSource;

/**
 * The instant up to which a hold is certainly ours, by this process's clocks.
 *
 * <p>Monotonic time decides. The wall clock can only make it pass sooner: a suspended machine stops the monotonic clock
 * while the store's clock runs on.
 *
 * @param nanos on the time source's monotonic clock
 * @param wallMillis on its wall clock
 */
record Deadline(long nanos, long wallMillis) {

    boolean hasPassed(TimeSource time) {
        return hasPassed(ClockReading.now(time));
    }

    /** Whether it had passed when the clocks were read. */
    boolean hasPassed(ClockReading now) {
        return now.nanos() - nanos >= 0 || now.wallMillis() - wallMillis >= 0;
    }

    /** On each clock the earlier of the two. */
    Deadline earlier(Deadline other) {
        return new Deadline(nanos - other.nanos < 0 ? nanos : other.nanos, Math.min(wallMillis, other.wallMillis));
    }

    /** The same instant, so that monotonic time alone shows it if no clock jumps from now on. */
    Deadline asOf(ClockReading now) {
        long remaining = remainingNanos(now);
        return nanos - now.nanos() <= remaining ? this : new Deadline(now.nanos() + remaining, wallMillis);
    }

    /** Zero if it has passed. */
    long remainingNanos(TimeSource time) {
        return remainingNanos(ClockReading.now(time));
    }

    /** As it was when the clocks were read. */
    long remainingNanos(ClockReading now) {
        long byWall = (wallMillis - now.wallMillis()) * 1_000_000;
        return Math.max(0, Math.min(nanos - now.nanos(), byWall));
    }
}
