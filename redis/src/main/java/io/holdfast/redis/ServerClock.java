package io.holdfast.redis;

import io.holdfast.spi.TimeSource;

/**
 * An estimate of one server's clock, from the times in its replies. Used only for the "not after" of commands, which
 * keeps one that was held up on its way from being executed when nobody waits for it any more.
 *
 * <p>It is never ahead of the server's clock (a reply's time is compared with the moment of its arrival), so a command
 * is never executed later than it may; it is behind by what the reply took, which costs a repetition when that is as long
 * as the whole timeout. It follows the server's clock also backwards.
 */
final class ServerClock {

    private static final long UNKNOWN = Long.MIN_VALUE;

    private final TimeSource time;
    private volatile long offsetMillis = UNKNOWN;

    ServerClock(TimeSource time) {
        this.time = time;
    }

    /** Takes note of the server's time in a reply that has just arrived. */
    void observe(long serverMillis) {
        long offset = serverMillis - ownMillis();
        // Hot path: most replies tell nothing new.
        if (offset != offsetMillis) {
            offsetMillis = offset;
        }
    }

    /** There may be another server now. */
    void forget() {
        offsetMillis = UNKNOWN;
    }

    /** Whether a time of the server has been seen. */
    boolean isKnown() {
        return offsetMillis != UNKNOWN;
    }

    /** The server's time now, in milliseconds, or a little less; 0 if nothing is known of it. */
    long millis() {
        long offset = offsetMillis;
        return offset == UNKNOWN ? 0 : ownMillis() + offset;
    }

    private long ownMillis() {
        return time.nanoTime() / 1_000_000;
    }
}
