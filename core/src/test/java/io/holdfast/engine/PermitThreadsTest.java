package io.holdfast.engine;

import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.holdfast.Inside;
import io.holdfast.Lease;
import io.holdfast.LockClient;
import io.holdfast.LockTimeoutException;
import io.holdfast.Permits;
import io.holdfast.memory.MemoryLockStore;
import io.holdfast.spi.TimeSource;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Permits and threads, in real time. */
@Timeout(120)
class PermitThreadsTest {

    private static final int LIMIT = 5;

    private final MemoryLockStore.Server server = new MemoryLockStore.Server(TimeSource.system());
    private final LockClient one = LockClient.builder().store(server::connect).build();
    private final LockClient two = LockClient.builder().store(server::connect).build();

    @AfterEach
    void nothing_is_left() {
        assertThat(Inside.engine(one).size()).isZero();
        assertThat(Inside.engine(two).size()).isZero();
        one.close();
        two.close();
        assertThat(server.size()).isZero();
    }

    @Test
    void threads_of_two_clients_never_have_more_than_the_limit_and_all_come_through() throws Exception {
        AtomicInteger used = new AtomicInteger();
        AtomicInteger most = new AtomicInteger();
        List<Callable<Boolean>> tasks = new ArrayList<>();
        for (int i = 0; i < 24; i++) {
            Permits permits = (i % 2 == 0 ? one : two).permits("export", LIMIT).weight(1 + i % 3);
            tasks.add(() -> {
                for (int round = 0; round < 50; round++) {
                    try (Lease lease = permits.acquire()) {
                        most.accumulateAndGet(used.addAndGet(permits.weight()), Math::max);
                        Thread.onSpinWait();
                        used.addAndGet(-permits.weight());
                        lease.ensureValid();
                    }
                }
                return true;
            });
        }
        Together.assertAllTrue(tasks);
        assertThat(most.get()).isBetween(1, LIMIT);
        assertThat(used.get()).isZero();
    }

    @Test
    void an_interrupt_ends_a_wait_and_leaves_nothing_behind() throws Exception {
        Permits permits = one.permits("export", LIMIT);
        try (Lease all = two.permits("export", LIMIT).weight(LIMIT).acquire()) {
            List<Thread> waiting = new ArrayList<>();
            AtomicInteger interrupted = new AtomicInteger();
            for (int i = 0; i < 20; i++) {
                Thread thread = new Thread(() -> {
                    try (Lease lease = permits.acquire()) {
                        lease.ensureValid();
                    } catch (InterruptedException e) {
                        interrupted.incrementAndGet();
                    }
                });
                thread.start();
                waiting.add(thread);
            }
            await().until(() -> Inside.engine(one).pools().lanes() == 20);
            waiting.forEach(Thread::interrupt);
            for (Thread each : waiting) {
                each.join();
            }
            assertThat(interrupted).hasValue(20);
            assertThat(Inside.engine(one).size()).isZero();
            all.ensureValid();

            Thread.currentThread().interrupt();
            assertThatThrownBy(permits::acquire).isInstanceOf(InterruptedException.class);
            Thread.currentThread().interrupt();
            assertThatThrownBy(() -> permits.tryAcquire(ofSeconds(1))).isInstanceOf(InterruptedException.class);
            // One attempt waits for its answer all the same.
            Thread.currentThread().interrupt();
            assertThat(permits.tryAcquire()).isEmpty();
            assertThat(Thread.interrupted()).isTrue();
        }
    }

    @Test
    void a_wait_in_time_ends_in_time() throws Exception {
        Permits permits = one.permits("export", 1);
        try (Lease all = two.permits("export", 1).acquire()) {
            assertThatThrownBy(() -> permits.acquire(ofSeconds(1)))
                    .isInstanceOfSatisfying(LockTimeoutException.class, e -> {
                        assertThat(e.lockNames()).containsExactly("export");
                        assertThat(e.holder()).contains(all.holderId());
                    })
                    .hasMessageStartingWith(
                            "The permits of \"export\" (limit 1, weight 1) were held by others for 1 s");
            assertThat(permits.tryAcquire(ofSeconds(1))).isEmpty();
        }
    }

    @Test
    void the_permit_of_a_task_is_released_by_its_thread_and_any_other_by_any_thread() throws Exception {
        AtomicReference<Lease> leaked = new AtomicReference<>();
        Permits permits = one.permits("export", LIMIT);
        permits.run(lease -> {
            leaked.set(lease);
            Thread other =
                    new Thread(() -> assertThatThrownBy(lease::release).isInstanceOf(IllegalStateException.class));
            other.start();
            joined(other);
            assertThat(lease.isValid()).isTrue();
        });
        assertThat(leaked.get().isValid()).isFalse();

        Lease lease = permits.acquire();
        Thread other = new Thread(lease::release);
        other.start();
        joined(other);
        assertThat(lease.isValid()).isFalse();
    }

    @Test
    void a_checked_exception_passes_through_and_the_permit_is_released() throws Exception {
        Permits permits = one.permits("export", LIMIT);
        assertThatThrownBy(() -> permits.runChecked(lease -> {
                    throw new IOException("disk");
                }))
                .isInstanceOf(IOException.class);
        assertThat(permits.<String, IOException>callChecked(lease -> "done")).isEqualTo("done");
        assertThat(permits.tryRun(ofSeconds(1), lease -> {})).isTrue();
        assertThat(permits.<String>callAsync(lease -> CompletableFuture.completedFuture("x"))
                        .toCompletableFuture()
                        .get())
                .isEqualTo("x");
    }

    @Test
    void permits_of_a_reopened_client_work_again() throws Exception {
        Permits permits = one.permits("export", LIMIT);
        permits.acquire().release();
        one.close();
        one.reopen();
        try (Lease again = permits.acquire()) {
            assertThat(again.isValid()).isTrue();
        }
    }

    private static void joined(Thread thread) {
        try {
            thread.join();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }
}
