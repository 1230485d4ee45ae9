package io.holdfast.zookeeper;

import io.holdfast.spi.TimeSource;
import org.apache.zookeeper.data.Stat;

/**
 * A write that the session has committed to its node while that was the first: what a grant rests on.
 *
 * @param stat of the node, after the write
 * @param waiting how many wait behind it
 * @param promisedMillis how long the session lives, counted from the sending
 * @param sentNanos when the write was sent, on the monotonic clock
 * @param sentWallMillis the same on the wall clock, which goes on while a machine is suspended
 */
record Proof(Stat stat, int waiting, long promisedMillis, long sentNanos, long sentWallMillis) {

    private static final long NANOS_PER_MILLI = 1_000_000;

    /** What is left of the promise, in milliseconds, rounded down; little, or less than nothing, if it is old. */
    long leftMillis(TimeSource time) {
        long monotonic = (time.nanoTime() - sentNanos) / NANOS_PER_MILLI + 1;
        return promisedMillis - Math.max(monotonic, time.wallMillis() - sentWallMillis);
    }

    /** Whether nearly all of the promise is left. */
    boolean isFresh(TimeSource time) {
        return leftMillis(time) >= promisedMillis - promisedMillis / 10;
    }
}
