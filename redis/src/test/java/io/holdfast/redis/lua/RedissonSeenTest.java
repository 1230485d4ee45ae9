package io.holdfast.redis.lua;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.spi.TimeSource;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class RedissonSeenTest {

    private static final Duration RECENT = Duration.ofMinutes(5);

    /** Overflows soon, as nanoTime may. */
    private long now = Long.MAX_VALUE - Duration.ofMinutes(1).toNanos();

    private final TimeSource time = new TimeSource() {
        @Override
        public long nanoTime() {
            return now;
        }

        @Override
        public long wallMillis() {
            throw new AssertionError("not asked for");
        }

        @Override
        public Timer schedule(long delayNanos, Runnable task) {
            throw new AssertionError("not asked for");
        }
    };

    private final RedissonSeen seen = new RedissonSeen(time, true);

    @Test
    void at_first_it_was_not_seen() {
        assertThat(seen.isRecent()).isFalse();
    }

    @Test
    void it_is_recent_for_five_minutes_after_it_was_last_seen() {
        seen.now();
        now += RECENT.toNanos() - 1;
        assertThat(seen.isRecent()).isTrue();
        now++;
        assertThat(seen.isRecent()).isFalse();

        seen.now();
        now += RECENT.toNanos() / 2;
        seen.now();
        now += RECENT.toNanos() - 1;
        assertThat(seen.isRecent()).isTrue();
        now++;
        assertThat(seen.isRecent()).isFalse();
    }

    @Test
    void where_it_cannot_be_counted_it_is_never_recent() {
        RedissonSeen none = new RedissonSeen(time, false);
        none.now();
        assertThat(none.isRecent()).isFalse();
    }
}
