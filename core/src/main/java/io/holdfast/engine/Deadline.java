package io.holdfast.engine;

import io.holdfast.spi.ClockReading;
import io.holdfast.spi.TimeSource;

/**
 * The instant up to which a hold certainly belongs to this client, by this process's clocks.
 *
 * <p>Monotonic time decides. The wall clock can only make the deadline pass sooner: a suspended machine stops the
 * monotonic clock while the store's clock continues.
 *
 * @param nanos on the time source's monotonic clock
 * @param wallMillis on its wall clock
 */
record Deadline(long nanos, long wallMillis) {

    boolean hasPassed(TimeSource time) {
        return hasPassed(ClockReading.now(time));
    }

    /** Returns whether it had passed when the clocks were read. */
    boolean hasPassed(ClockReading now) {
        return now.nanos() - nanos >= 0 || now.wallMillis() - wallMillis >= 0;
    }

    /** Returns the earlier of two deadlines, on each clock. */
    Deadline earlier(Deadline other) {
        return new Deadline(nanos - other.nanos < 0 ? nanos : other.nanos, Math.min(wallMillis, other.wallMillis));
    }

    /** Returns the same instant such that monotonic time alone shows it, if no clock jumps from now on. */
    Deadline asOf(ClockReading now) {
        long remaining = remainingNanos(now);
        return nanos - now.nanos() <= remaining ? this : new Deadline(now.nanos() + remaining, wallMillis);
    }

    /** Returns the time left; zero if the deadline has passed. */
    long remainingNanos(TimeSource time) {
        return remainingNanos(ClockReading.now(time));
    }

    /** Returns the time that was left when the clocks were read. */
    long remainingNanos(ClockReading now) {
        long byWall = (wallMillis - now.wallMillis()) * 1_000_000;
        return Math.max(0, Math.min(nanos - now.nanos(), byWall));
    }
}
