package io.holdfast.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.DistributedLock;
import io.holdfast.Lease;
import io.holdfast.LockClient;
import io.holdfast.LockTimeoutException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A thread that would wait for itself without end gets a sentence, where that is certain. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class SelfWaitTest {

    private static void refused(LockClient client) {
        assertThatThrownBy(() -> client.acquire("a")).isInstanceOf(IllegalStateException.class);
    }

    private static LockClient client() {
        return LockClient.connect("memory:self-wait");
    }

    @Test
    void a_lease_that_the_thread_releases_itself_is_not_waited_for_by_it() throws InterruptedException {
        try (LockClient client = client()) {
            client.run("a", lease -> {
                for (int i = 0; i < 2; i++) {
                    assertThatThrownBy(() -> client.run("a", inner -> {}))
                            .isInstanceOf(IllegalStateException.class)
                            .hasMessageContaining("would wait for itself without end")
                            .hasMessageContaining("\"a\"")
                            .hasMessageContaining("(expected: ");
                }
                assertThatThrownBy(() -> client.getLock("a").lock()).isInstanceOf(IllegalStateException.class);
                assertThatThrownBy(() -> client.getLock("a").lockInterruptibly())
                        .isInstanceOf(IllegalStateException.class);
                assertThatThrownBy(() -> client.acquireAll(List.of("0", "a")))
                        .isInstanceOf(IllegalStateException.class);
                assertThat(client.localLocks()).hasSize(1);
                assertThat(lease.isValid()).isTrue();
            });
            client.run("a", lease -> lease.ensureValid());
            assertThat(client.tryRun("a", lease -> refused(client))).isTrue();
            assertThat(client.tryRun("a", Duration.ofSeconds(1), lease -> refused(client)))
                    .isTrue();
        }
    }

    @Test
    void the_owner_of_a_lock_is_told_by_acquire() throws InterruptedException {
        try (LockClient client = client()) {
            DistributedLock lock = client.getLock("a");
            lock.lock();
            assertThatThrownBy(() -> client.acquire("a")).isInstanceOf(IllegalStateException.class);
            lock.lock();
            lock.unlock();
            lock.unlock();
            client.acquire("a").release();
        }
    }

    /** Each of these waits can end. */
    @Test
    void a_wait_that_can_end_is_not_refused() throws Exception {
        try (LockClient client = client()) {
            client.run("a", lease -> {
                assertThat(client.tryAcquire("a")).isEmpty();
                assertThatThrownBy(() -> client.acquire("a", Duration.ofMillis(10)))
                        .isInstanceOf(LockTimeoutException.class)
                        .hasMessageContaining("this thread's own lease");
                var later = client.acquireAsync("a").toCompletableFuture();
                lease.release();
                assertThat(later).succeedsWithin(Duration.ofSeconds(30)).satisfies(Lease::release);
            });

            // Another thread may release it.
            Lease passedOn = client.acquire("a");
            Thread releasing = new Thread(() -> {
                try {
                    Thread.sleep(50);
                } catch (InterruptedException e) {
                    return;
                }
                passedOn.release();
            });
            releasing.start();
            client.acquire("a").release();
            releasing.join();

            // Such a lock ends after its fixed length.
            client.getLock("a").lock(150, TimeUnit.MILLISECONDS);
            client.acquire("a").release();

            // Another thread waits.
            client.run(
                    "a",
                    lease -> assertThat(java.util.concurrent.CompletableFuture.runAsync(() -> {
                                try {
                                    client.run("a", inner -> {});
                                } catch (InterruptedException e) {
                                    Thread.currentThread().interrupt();
                                }
                            }))
                            .isNotCompletedExceptionally());
        }
    }
}
