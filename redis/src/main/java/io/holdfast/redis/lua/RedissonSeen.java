package io.holdfast.redis.lua;

import io.holdfast.spi.TimeSource;
import java.util.concurrent.TimeUnit;

/**
 * Remembers whether Redisson clients were seen in the last minutes, as holders or as receivers of a release. Only then
 * do acquires count the clients that wait at Redisson, for fairness. A release is published in any case. Thread-safe.
 */
final class RedissonSeen {

    private static final long RECENT_NANOS = TimeUnit.MINUTES.toNanos(5);

    private final TimeSource time;
    private final boolean counts;
    private volatile long untilNanos;

    /** @param counts whether scripts can count them; otherwise they never count as seen */
    RedissonSeen(TimeSource time, boolean counts) {
        this.time = time;
        this.counts = counts;
        this.untilNanos = time.nanoTime();
    }

    void now() {
        untilNanos = time.nanoTime() + RECENT_NANOS;
    }

    boolean isRecent() {
        return counts && time.nanoTime() - untilNanos < 0;
    }
}
