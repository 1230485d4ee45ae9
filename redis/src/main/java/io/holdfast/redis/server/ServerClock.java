package io.holdfast.redis.server;

import io.holdfast.spi.TimeSource;
import java.time.Duration;
import java.util.List;

/**
 * Estimates one server's clock from the times in its replies. The estimate serves only the "not after" of commands: a
 * delayed command must not be executed when no caller waits for it any longer.
 *
 * <p>When a reply arrives, the estimate is not ahead of the server's clock. It is behind by the time that the reply
 * took; if that was as long as the whole timeout, a command has to be repeated. From then on the two clocks may drift
 * apart, so a part of the time since the reply is subtracted. The estimate follows the server's clock even backwards.
 */
public final class ServerClock {

    private static final long UNKNOWN = Long.MIN_VALUE;

    /** One part in this many of the time without a reply is charged as drift: 1 %, as for leases. */
    private static final int DRIFT_PART = 100;

    /** The part of the time without a reply that may be left out, to keep the hot path short. */
    private static final long UNCHARGED_MILLIS = 100;

    private final TimeSource time;
    private volatile long offsetMillis = UNKNOWN;

    /** When a reply last contained the time, on our clock. Written after the offset and read before it. */
    private volatile long observedMillis;

    public ServerClock(TimeSource time) {
        this.time = time;
        observedMillis = ownMillis() - UNCHARGED_MILLIS;
    }

    /** Returns the milliseconds of an answer to TIME: seconds and microseconds. */
    public static long millis(List<String> answer) {
        return Long.parseLong(answer.get(0)) * 1_000 + Long.parseLong(answer.get(1)) / 1_000;
    }

    /** Records the server's time in a reply that has just arrived. */
    public void observe(long serverMillis) {
        long now = ownMillis();
        long offset = serverMillis - now;
        // Hot path: most replies change nothing.
        if (offset != offsetMillis) {
            offsetMillis = offset;
        }
        if (now - observedMillis >= UNCHARGED_MILLIS) {
            observedMillis = now;
        }
    }

    /** Forgets the estimate, because the server may be another one now. */
    public void forget() {
        offsetMillis = UNKNOWN;
    }

    /** Returns whether a reply of the server has contained its time. */
    public boolean isKnown() {
        return offsetMillis != UNKNOWN;
    }

    /**
     * Returns the server's time after which a command that is sent now is too late, because no caller waits for its
     * answer any longer. At least half of the timeout is left even after a long silence.
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
