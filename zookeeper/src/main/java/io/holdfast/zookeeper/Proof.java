package io.holdfast.zookeeper;

import io.holdfast.spi.ClockReading;
import io.holdfast.spi.TimeSource;
import org.apache.zookeeper.data.Stat;

/**
 * A write that the session has committed to its node. Every grant and every renewal needs one.
 *
 * @param stat the node's, after the write
 * @param queue the queue as it was seen after the write, or just before
 * @param promise how long the session lives after the write
 */
record Proof(Stat stat, QueueSnapshot queue, Session.Promise promise) {

    private static final long NANOS_PER_MILLI = 1_000_000;

    /** Returns this proof with the rest of its promise, rounded down; negative if it is too old. */
    Proof asOfNow(TimeSource time) {
        return new Proof(stat, queue, new Session.Promise(leftMillis(time), ClockReading.now(time), promise.backed()));
    }

    /** Returns this proof with what a later look has shown. */
    Proof seeing(QueueSnapshot later) {
        return new Proof(stat, later, promise);
    }

    /** Returns whether nearly all of the promise is left. */
    boolean isFresh(TimeSource time) {
        return leftMillis(time) >= promise.millis() - promise.millis() / 10;
    }

    private long leftMillis(TimeSource time) {
        return promise.millis() - promise.sent().mostAgeNanos(time) / NANOS_PER_MILLI - 1;
    }
}
