package io.holdfast.zookeeper;

import io.holdfast.spi.TimeSource;

/**
 * When something happened, by both clocks of this machine: the monotonic one stands while the machine is suspended, and the wall
 * clock may be set back.
 */
record Moment(long nanos, long wallMillis) {

    private static final long NANOS_PER_MILLI = 1_000_000;

    static Moment now(TimeSource time) {
        return new Moment(time.nanoTime(), time.wallMillis());
    }

    /**
     * How long ago that is, at least: a wall clock that was set says nothing here. For what needs some time to have passed.
     */
    long leastAgeNanos(TimeSource time) {
        return time.nanoTime() - nanos;
    }

    /** How long ago that is, at most: by the clock that went further. For what may not be older than something. */
    long mostAgeNanos(TimeSource time) {
        return mostAgeNanos(now(time));
    }

    /** The same, seen from another moment. */
    long mostAgeNanos(Moment now) {
        return Math.max(now.nanos - nanos, (now.wallMillis - wallMillis) * NANOS_PER_MILLI);
    }
}
