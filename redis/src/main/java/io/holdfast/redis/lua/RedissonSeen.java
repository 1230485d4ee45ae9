package io.holdfast.redis.lua;

import io.holdfast.spi.TimeSource;
import java.util.concurrent.TimeUnit;

/**
 * Whether clients of Redisson were seen lately: as holders, or as listeners to a release. Only then do acquires count
 * those that wait there. That is for fairness; a release is always published. Thread-safe.
 */
final class RedissonSeen {

    private static final long RECENT_NANOS = TimeUnit.MINUTES.toNanos(5);

    private final TimeSource time;
    private volatile long untilNanos;

    RedissonSeen(TimeSource time) {
        this.time = time;
        this.untilNanos = time.nanoTime();
    }

    void now() {
        untilNanos = time.nanoTime() + RECENT_NANOS;
    }

    boolean isRecent() {
        return time.nanoTime() - untilNanos < 0;
    }
}
