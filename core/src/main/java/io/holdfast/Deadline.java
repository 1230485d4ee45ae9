package io.holdfast;

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
        return time.nanoTime() - nanos >= 0 || time.wallMillis() - wallMillis >= 0;
    }

    /** On each clock the earlier of the two. */
    Deadline earlier(Deadline other) {
        return new Deadline(nanos - other.nanos < 0 ? nanos : other.nanos, Math.min(wallMillis, other.wallMillis));
    }

    /** Zero if it has passed. */
    long remainingNanos(TimeSource time) {
        long byWall = (wallMillis - time.wallMillis()) * 1_000_000;
        return Math.max(0, Math.min(nanos - time.nanoTime(), byWall));
    }
}
