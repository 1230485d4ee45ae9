package io.holdfast.spring.shedlock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.LockClient;
import io.holdfast.memory.MemoryLockStore;
import io.holdfast.memory.VirtualTime;
import io.holdfast.spi.StoreContext;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import net.javacrumbs.shedlock.core.DefaultLockingTaskExecutor;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.LockExtender;
import net.javacrumbs.shedlock.core.SimpleLock;
import net.javacrumbs.shedlock.support.KeepAliveLockProvider;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** ShedLock's ways to extend the lock of a task, in virtual time. */
class ExtendedTaskTest {

    private final VirtualTime time = new VirtualTime();
    private final MemoryLockStore.Server server = new MemoryLockStore.Server(time);
    private final LockClient client = LockClient.builder()
            .store(server.connect(new StoreContext("one", time)))
            .timeSource(time)
            .build();
    private final HoldfastLockProvider provider = new HoldfastLockProvider(client, "job-lock");

    @AfterEach
    void close() {
        client.close();
    }

    private static LockConfiguration task(Duration atMost, Duration atLeast) {
        return new LockConfiguration(Instant.now(), "nightly", atMost, atLeast);
    }

    private Duration remaining() {
        return client.inspect("job-lock:nightly").remaining().orElse(Duration.ZERO);
    }

    @Test
    void a_task_extends_its_own_lock() throws Throwable {
        new DefaultLockingTaskExecutor(provider)
                .executeWithLock(
                        (Runnable) () -> {
                            time.advance(Duration.ofMinutes(9));
                            LockExtender.extendActiveLock(Duration.ofMinutes(20), Duration.ofMinutes(15));
                            assertThat(remaining()).isEqualTo(Duration.ofMinutes(20));
                            LockExtender.extendActiveLock(Duration.ofMinutes(30), Duration.ofSeconds(10));
                            assertThat(remaining()).isEqualTo(Duration.ofMinutes(30));
                        },
                        task(Duration.ofMinutes(10), Duration.ofSeconds(5)));
        // The times of the last call count, and the shortest has passed.
        assertThat(remaining()).isEqualTo(Duration.ZERO);
    }

    @Test
    void a_task_that_lost_its_lock_cannot_extend_it() {
        Runnable late = () -> {
            time.advance(Duration.ofMinutes(10));
            LockExtender.extendActiveLock(Duration.ofMinutes(20), Duration.ZERO);
        };
        // With every provider, ShedLock then refuses the unlock, and that hides the task's own exception.
        assertThatThrownBy(() -> new DefaultLockingTaskExecutor(provider)
                        .executeWithLock(late, task(Duration.ofMinutes(10), Duration.ZERO)))
                .isInstanceOf(IllegalStateException.class);
        assertThat(client.inspect("job-lock:nightly").isLocked()).isFalse();
    }

    @Test
    void a_lock_that_is_lost_gives_no_other() {
        SimpleLock lock =
                provider.lock(task(Duration.ofMinutes(10), Duration.ZERO)).orElseThrow();
        time.advance(Duration.ofMinutes(10));
        assertThat(lock.extend(Duration.ofMinutes(20), Duration.ZERO)).isEmpty();
    }

    /** A close does not end the task, so another process must not run it meanwhile. */
    @Test
    void a_close_of_the_client_leaves_the_lock_of_a_task_that_runs() {
        try (LockClient other = LockClient.builder()
                .store(server.connect(new StoreContext("other", time)))
                .timeSource(time)
                .build()) {
            HoldfastLockProvider next = new HoldfastLockProvider(other, "job-lock");
            LockConfiguration task = task(Duration.ofMinutes(10), Duration.ZERO);
            assertThat(provider.lock(task)).isPresent();
            client.close();

            assertThat(next.lock(task)).as("while the task may run").isEmpty();
            time.advance(Duration.ofMinutes(10));
            assertThat(next.lock(task)).as("after lockAtMostFor").isPresent();
        }
    }

    @Test
    void a_lock_that_is_kept_alive_outlives_its_time_and_ends_with_its_task() {
        List<Runnable> periodic = new ArrayList<>();
        var timer = new ScheduledThreadPoolExecutor(1) {
            @Override
            public ScheduledFuture<?> scheduleAtFixedRate(Runnable what, long delay, long period, TimeUnit unit) {
                assertThat(unit.toSeconds(period)).isEqualTo(30);
                periodic.add(what);
                return super.scheduleAtFixedRate(what, 1, 1, TimeUnit.DAYS);
            }
        };
        try {
            SimpleLock kept = new KeepAliveLockProvider(provider, timer)
                    .lock(task(Duration.ofMinutes(1), Duration.ZERO))
                    .orElseThrow();
            for (int i = 0; i < 10; i++) {
                time.advance(Duration.ofSeconds(30));
                assertThat(client.inspect("job-lock:nightly").isLocked()).isTrue();
                periodic.get(0).run();
                assertThat(remaining()).isEqualTo(Duration.ofMinutes(1));
            }
            kept.unlock();
            assertThat(client.inspect("job-lock:nightly").isLocked()).isFalse();
        } finally {
            timer.shutdownNow();
        }
    }
}
