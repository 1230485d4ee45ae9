package io.holdfast.redis.server;

import io.holdfast.spi.TimeSource;
import java.time.Duration;

/**
 * An estimate of one server's clock, from the times in its replies. Used only for the "not after" of commands, which
 * keeps one that was held up on its way from being executed when nobody waits for it any more.
 *
 * <p>When a reply has come it is not ahead of the server's clock (a reply's time is compared with the moment of its arrival);
 * it is behind by what the reply took, which costs a repetition when that is as long as the whole timeout. From then on the
 * two clocks may drift apart, so some of the time since is charged: a command must not be executed later than it may. It
 * follows the server's clock also backwards.
 */
public final class ServerClock {

    private static final long UNKNOWN = Long.MIN_VALUE;

    /** One part in so many of the time without a reply is charged; 1 %, as for leases. */
    private static final int DRIFT_PART = 100;

    /** How much of the time without a reply may be left out, for the sake of the hot path. */
    private static final long UNCHARGED_MILLIS = 100;

    private final TimeSource time;
    private volatile long offsetMillis = UNKNOWN;

    /** When a reply last told the time, on our clock. Written after the offset and read before it. */
    private volatile long observedMillis;

    public ServerClock(TimeSource time) {
        this.time = time;
        observedMillis = ownMillis() - UNCHARGED_MILLIS;
    }

    /** Takes note of the server's time in a reply that has just arrived. */
    public void observe(long serverMillis) {
        long now = ownMillis();
        long offset = serverMillis - now;
        // Hot path: most replies tell nothing new.
        if (offset != offsetMillis) {
            offsetMillis = offset;
        }
        if (now - observedMillis >= UNCHARGED_MILLIS) {
            observedMillis = now;
        }
    }

    /** There may be another server now. */
    public void forget() {
        offsetMillis = UNKNOWN;
    }

    /** Whether a time of the server has been seen. */
    public boolean isKnown() {
        return offsetMillis != UNKNOWN;
    }

    /**
     * When a command that is sent now is too late, in the server's time: nobody waits for its answer then. Half of the
     * timeout is left also after a long silence.
     */
    public long notAfterMillis(Duration timeout) {
        long now = ownMillis();
        long drift = (now - observedMillis) / DRIFT_PART;
        long offset = offsetMillis;
        long left = timeout.toMillis() - Math.min(drift, timeout.toMillis() / 2);
        return offset == UNKNOWN ? left : now + offset + left;
    }

    private long ownMillis() {
        return time.nanoTime() / 1_000_000;
    }
}
