package io.holdfast.redis.lua;

import io.holdfast.spi.TimeSource;
import java.util.concurrent.TimeUnit;

/**
 * Whether clients of Redisson were seen lately: as holders, or as listeners to a release. Only then do acquires count
 * those that wait there. That is for fairness; a release is published even without it. Thread-safe.
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
