package io.holdfast.zookeeper;

import io.holdfast.spi.ClockReading;
import io.holdfast.spi.TimeSource;
import org.apache.zookeeper.data.Stat;

/**
 * A write that the session has committed to its node while that was the first: what a grant rests on.
 *
 * @param stat of the node, after the write
 * @param waiting how many wait behind it
 * @param promisedMillis how long the session lives, counted from the sending
 * @param sent when the write was sent
 */
record Proof(Stat stat, int waiting, long promisedMillis, ClockReading sent) {

    private static final long NANOS_PER_MILLI = 1_000_000;

    /** What is left of the promise, in milliseconds, rounded down; little, or less than nothing, if it is old. */
    long leftMillis(TimeSource time) {
        return promisedMillis - sent.mostAgeNanos(time) / NANOS_PER_MILLI - 1;
    }

    /** Whether nearly all of the promise is left. */
    boolean isFresh(TimeSource time) {
        return leftMillis(time) >= promisedMillis - promisedMillis / 10;
    }
}
