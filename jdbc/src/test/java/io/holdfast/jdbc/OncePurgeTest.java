package io.holdfast.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.holdfast.Lease;
import io.holdfast.LockClient;
import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** When keys are deleted; spring-boot and cdi have the same with their tables. */
class OncePurgeTest {

    private static final Duration SECOND = Duration.ofSeconds(1);
    private static final Duration LONG = Duration.ofMinutes(1);

    private final AtomicInteger runs = new AtomicInteger();

    @Test
    void one_process_at_a_time_deletes() throws InterruptedException {
        try (LockClient locks = LockClient.connect("memory:purge");
                LockClient other = LockClient.connect("memory:purge")) {
            Lease held = other.acquire("holdfast-once-purge");
            try (OncePurge purge = OncePurge.start(SECOND, locks, runs::incrementAndGet)) {
                assertThat(purge).isNotNull();
                TimeUnit.SECONDS.sleep(3);
                assertThat(held.isValid()).isTrue();
                assertThat(runs).hasValue(0);
                held.release();
                await().atMost(LONG).until(() -> runs.get() > 1);
            }
            int atEnd = runs.get();
            TimeUnit.SECONDS.sleep(3);
            assertThat(runs).hasValue(atEnd);
        }
    }

    @Test
    void a_failure_does_not_end_the_deletions() {
        try (OncePurge purge = OncePurge.start(SECOND, null, () -> {
            if (runs.incrementAndGet() == 1) {
                throw new SQLException("the database is away");
            }
            return 0;
        })) {
            assertThat(purge).isNotNull();
            await().atMost(LONG).until(() -> runs.get() > 1);
        }
    }

    @Test
    void an_interval_is_at_least_a_second() {
        assertThatThrownBy(() -> OncePurge.start(Duration.ofMillis(999), null, runs::incrementAndGet))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("every: 999 ms (expected: at least 1 s)");
    }
}
