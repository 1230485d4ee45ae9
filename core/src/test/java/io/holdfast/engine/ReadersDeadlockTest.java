package io.holdfast.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.holdfast.DeadlockException;
import io.holdfast.DistributedLock;
import io.holdfast.Lease;
import io.holdfast.LockClient;
import io.holdfast.LockOptions;
import io.holdfast.LockTimeoutException;
import io.holdfast.Permits;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Threads of one process that would wait for each other for ever, where some of them read or have permits. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class ReadersDeadlockTest {

    private static final Duration SHORT = Duration.ofMillis(300);

    private final LockClient client = LockClient.connect("memory:readers-deadlocks");
    private final DistributedLock prices = client.getLock("prices");
    private final DistributedLock read = client.getReadWriteLock("catalog").readLock();
    private final DistributedLock write = client.getReadWriteLock("catalog").writeLock();
    private final List<Other> others = new ArrayList<>();

    @AfterEach
    void stop() throws Exception {
        for (Other other : others) {
            other.end();
        }
        client.close();
    }

    @Test
    void a_writer_that_would_wait_for_a_reader_that_waits_for_it_is_refused() throws Exception {
        prices.lock();
        Other reader = new Other("reader", () -> under(read, () -> under(prices, () -> {})));
        reader.awaitWait();
        assertThatThrownBy(write::lock)
                .isInstanceOf(DeadlockException.class)
                .hasMessageContaining("holds the lock \"prices\" and would wait for \"catalog\"; Thread \"reader\""
                        + " holds the read lock \"catalog\" and would wait for \"prices\"");
        prices.unlock();
        reader.end();
        write.lock();
        write.unlock();
    }

    @Test
    void a_reader_that_would_wait_for_a_writer_that_waits_for_it_is_refused() throws Exception {
        read.lock();
        Other writer = new Other("writer", () -> under(prices, () -> under(write, () -> {})));
        writer.awaitWait();
        assertThatThrownBy(prices::lock)
                .isInstanceOf(DeadlockException.class)
                .hasMessageContaining("holds the read lock \"catalog\" and would wait for \"prices\"; Thread \"writer\""
                        + " holds the lock \"prices\" and would wait for \"catalog\"");
        read.unlock();
        writer.end();
    }

    /** A writer waits for all readers. The one that never ends need not be the first of them. */
    @Test
    void one_of_many_readers_makes_the_deadlock() throws Exception {
        prices.lock();
        CountDownLatch enough = new CountDownLatch(1);
        Other before = new Other("before", () -> under(read, enough::await));
        Other ofTask = new Other("of task", () -> {
            try (Lease lease =
                    client.acquireRead("catalog", LockOptions.defaults().releasedByThread())) {
                prices.lockInterruptibly();
                lease.ensureValid();
                prices.unlock();
            }
        });
        ofTask.awaitWait();
        Other after = new Other("after", () -> under(read, enough::await));
        await().until(() -> before.isParked() && after.isParked());
        assertThatThrownBy(write::lock)
                .isInstanceOf(DeadlockException.class)
                .hasMessageContaining("Thread \"of task\" holds the read lock \"catalog\"");
        enough.countDown();
        prices.unlock();
    }

    @Test
    void two_readers_that_want_to_write_what_the_other_reads() throws Exception {
        DistributedLock readStock = client.getReadWriteLock("stock").readLock();
        DistributedLock writeStock = client.getReadWriteLock("stock").writeLock();
        read.lock();
        Other other = new Other("other", () -> under(readStock, () -> under(write, () -> {})));
        other.awaitWait();
        assertThatThrownBy(writeStock::lock)
                .isInstanceOf(DeadlockException.class)
                .extracting(deadlock -> ((DeadlockException) deadlock).lockNames())
                .isEqualTo(List.of("stock", "catalog"));
        read.unlock();
        other.end();
    }

    /** Each would wait for itself, so nobody has to look for a cycle. */
    @Test
    void two_readers_that_want_to_write_are_both_refused() throws Exception {
        read.lock();
        new Other(
                        "other",
                        () -> under(
                                read, () -> assertThatThrownBy(write::lock).isInstanceOf(IllegalStateException.class)))
                .end();
        assertThatThrownBy(write::lock).isInstanceOf(IllegalStateException.class);
        read.unlock();

        LockOptions bounded = LockOptions.defaults().waitAtMost(SHORT);
        try (Lease one = client.acquireRead("catalog");
                Lease two = client.acquireRead("catalog")) {
            new Other(
                            "other",
                            () -> assertThatThrownBy(() -> client.acquireWrite("catalog", bounded))
                                    .isInstanceOf(LockTimeoutException.class))
                    .end();
            assertThatThrownBy(() -> client.acquireWrite("catalog", bounded)).isInstanceOf(LockTimeoutException.class);
            one.ensureValid();
            two.ensureValid();
        }
    }

    /** Any thread may release such a lease, and one does. */
    @Test
    void a_reader_whose_lease_any_thread_may_release_is_no_part_of_a_deadlock() throws Exception {
        Lease shared = client.acquireRead("catalog");
        Other writer = new Other("writer", () -> under(prices, () -> under(write, () -> {})));
        writer.awaitWait();
        new Other("releasing", () -> {
            await().until(() ->
                    client.localLocks().stream().anyMatch(lock -> lock.name().equals("prices") && lock.waiting() == 1));
            shared.release();
        });
        prices.lock();
        prices.unlock();
    }

    /** The other permit comes back. */
    @Test
    void a_wait_for_permits_is_no_part_of_a_deadlock() throws Exception {
        Permits exports = client.permits("exports", 2);
        Lease elsewhere = exports.acquire();
        exports.runChecked(permit -> {
            Other waiting = new Other("waiting", () -> under(prices, () -> exports.run(second -> {})));
            waiting.awaitWait();
            new Other("releasing", () -> {
                await().until(() -> client.localLocks().stream()
                        .anyMatch(lock -> lock.name().equals("prices") && lock.waiting() == 1));
                elsewhere.release();
            });
            prices.lock();
            prices.unlock();
        });
    }

    // --- threads ---

    private interface Work {
        void run() throws Exception;
    }

    private static void under(Lock lock, Work work) throws Exception {
        lock.lockInterruptibly();
        try {
            work.run();
        } finally {
            lock.unlock();
        }
    }

    /** Another thread, which must not fail. */
    private final class Other extends Thread {

        private volatile @Nullable Throwable failure;
        private final Work work;

        Other(String name, Work work) {
            super(name);
            this.work = work;
            others.add(this);
            start();
        }

        @Override
        public void run() {
            try {
                work.run();
            } catch (Throwable e) {
                failure = e;
            }
        }

        boolean isParked() {
            return getState() == State.WAITING;
        }

        void awaitWait() {
            await().until(() -> isParked() && LockSupport.getBlocker(this) instanceof Waiter);
        }

        void end() throws InterruptedException {
            join(20_000);
            assertThat(isAlive()).isFalse();
            assertThat(failure).isNull();
        }
    }
}
