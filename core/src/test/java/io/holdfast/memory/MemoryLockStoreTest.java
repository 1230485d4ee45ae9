package io.holdfast.memory;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.LockClient;
import io.holdfast.spi.TimeSource;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class MemoryLockStoreTest {

    /** How often the server looks at the clock, which it does for each name that it looks at. */
    private static final class CountingTime implements TimeSource {
        private final TimeSource time = new VirtualTime();
        final AtomicLong looks = new AtomicLong();

        @Override
        public long nanoTime() {
            looks.incrementAndGet();
            return time.nanoTime();
        }

        @Override
        public long wallMillis() {
            return time.wallMillis();
        }

        @Override
        public Timer schedule(long delayNanos, Runnable task) {
            return time.schedule(delayNanos, task);
        }
    }

    @Test
    void a_command_does_not_look_at_all_names_however_many_are_held() {
        CountingTime time = new CountingTime();
        MemoryLockStore.Server server = new MemoryLockStore.Server(time);
        try (LockClient locks = LockClient.builder().store(server::connect).build()) {
            for (int i = 0; i < 4_000; i++) {
                assertThat(locks.tryAcquire("lock " + i)).isPresent();
            }
            assertThat(time.looks.get() / 4_000).isLessThan(50);
        }
        assertThat(server.size()).isZero();
    }

    @Test
    void names_that_were_used_once_do_not_stay() {
        MemoryLockStore.Server server = new MemoryLockStore.Server(TimeSource.system());
        try (LockClient locks = LockClient.builder().store(server::connect).build()) {
            for (int i = 0; i < 5_000; i++) {
                locks.tryAcquire("lock " + i).orElseThrow().release();
            }
            assertThat(server.known()).isLessThanOrEqualTo(1_001);
        }
    }
}
