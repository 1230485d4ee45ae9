package io.holdfast.engine;

import static java.time.Duration.ofSeconds;
import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.holdfast.DeadlockException;
import io.holdfast.DistributedLock;
import io.holdfast.DistributedReadWriteLock;
import io.holdfast.Inside;
import io.holdfast.Lease;
import io.holdfast.LeaseLostException;
import io.holdfast.LockClient;
import io.holdfast.LockClientClosedException;
import io.holdfast.LockOptions;
import io.holdfast.memory.MemoryLockStore;
import io.holdfast.spi.TimeSource;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReadWriteLock;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Read-write locks that threads own, in real time. */
@Timeout(120)
class ReadWriteThreadsTest {

    private final MemoryLockStore.Server server = new MemoryLockStore.Server(TimeSource.system());
    private final LockClient one = LockClient.builder().store(server::connect).build();
    private final LockClient two = LockClient.builder().store(server::connect).build();
    private final DistributedReadWriteLock catalog = one.getReadWriteLock("catalog");
    private final DistributedLock read = catalog.readLock();
    private final DistributedLock write = catalog.writeLock();
    private final DistributedReadWriteLock elsewhere = two.getReadWriteLock("catalog");

    @AfterEach
    void nothing_is_left() {
        await().until(() -> Inside.engine(one).size() == 0 && Inside.engine(two).size() == 0);
        one.close();
        two.close();
        assertThat(server.size()).isZero();
    }

    private static <T> T inThread(Callable<T> work) throws Exception {
        CompletableFuture<T> result = new CompletableFuture<>();
        Thread thread = new Thread(() -> {
            try {
                result.complete(work.call());
            } catch (Throwable e) {
                result.completeExceptionally(e);
            }
        });
        thread.start();
        thread.join();
        return result.get();
    }

    private static boolean couldTake(Lock lock) throws Exception {
        return inThread(() -> {
            boolean taken = lock.tryLock();
            if (taken) {
                lock.unlock();
            }
            return taken;
        });
    }

    private static Thread waiter(Lock lock) {
        Thread thread = new Thread(() -> {
            lock.lock();
            lock.unlock();
        });
        thread.start();
        return thread;
    }

    private void awaitWaiting(int names) {
        await().until(() -> Inside.engine(one).pools().lanes() == names);
    }

    // --- reentrancy ---

    @Test
    void a_read_write_lock_is_that_of_the_jdk() throws Exception {
        ReadWriteLock lock = one.getReadWriteLock("catalog");
        lock.readLock().lock();
        assertThat(couldTake(lock.readLock())).isTrue();
        assertThat(couldTake(elsewhere.readLock())).isTrue();
        assertThat(couldTake(lock.writeLock())).isFalse();
        assertThat(couldTake(elsewhere.writeLock())).isFalse();
        lock.readLock().unlock();
        lock.writeLock().lock();
        assertThat(couldTake(lock.readLock())).isFalse();
        assertThat(couldTake(elsewhere.readLock())).isFalse();
        assertThat(couldTake(lock.writeLock())).isFalse();
        lock.writeLock().unlock();
        assertThat(couldTake(elsewhere.writeLock())).isTrue();
    }

    @Test
    void both_halves_are_reentrant_and_another_object_is_the_same_lock() throws Exception {
        read.lock();
        read.lock();
        assertThat(one.getReadWriteLock("catalog").readLock().tryLock()).isTrue();
        assertThat(read.getHoldCount()).isEqualTo(3);
        assertThat(write.getHoldCount()).isZero();
        assertThat(read.isHeldByCurrentThread()).isTrue();
        assertThat(write.isHeldByCurrentThread()).isFalse();
        assertThat(inThread(read::getHoldCount)).isZero();
        read.unlock();
        read.unlock();
        assertThat(couldTake(elsewhere.writeLock())).isFalse();
        read.unlock();

        write.lock();
        assertThat(write.tryLock(1, SECONDS)).isTrue();
        assertThat(write.getHoldCount()).isEqualTo(2);
        write.unlock();
        assertThat(couldTake(elsewhere.readLock())).isFalse();
        write.unlock();
        assertThat(couldTake(elsewhere.writeLock())).isTrue();
        assertThatThrownBy(read::unlock)
                .isInstanceOf(IllegalMonitorStateException.class)
                .hasMessageContainingAll(
                        "cannot unlock the read lock \"catalog\"", "(expected: the thread that locked it; a Lease ");
        assertThatThrownBy(write::unlock)
                .isInstanceOf(IllegalMonitorStateException.class)
                .hasMessageContaining("cannot unlock the write lock \"catalog\"");
    }

    @Test
    void a_reader_reads_again_although_a_writer_waits() throws Exception {
        read.lock();
        Thread writer = waiter(elsewhere.writeLock());
        await().until(() -> !couldTake(elsewhere.readLock()));
        read.lock();
        assertThat(read.tryLock()).isTrue();
        assertThat(read.getHoldCount()).isEqualTo(3);
        for (int i = 0; i < 3; i++) {
            read.unlock();
        }
        writer.join();
    }

    // --- downgrade and upgrade ---

    @Test
    void a_writer_reads_and_keeps_the_others_out_until_its_last_read_ends() throws Exception {
        write.lock();
        long token = write.fencingToken();
        read.lock();
        read.lock();
        assertThat(read.getHoldCount()).isEqualTo(2);
        assertThat(write.getHoldCount()).isEqualTo(1);
        write.unlock();
        assertThat(write.isHeldByCurrentThread()).isFalse();
        assertThat(read.getHoldCount()).isEqualTo(2);
        assertThat(read.fencingToken()).isEqualTo(token);
        assertThatThrownBy(write::unlock).isInstanceOf(IllegalMonitorStateException.class);
        assertThatThrownBy(write::fencingToken).isInstanceOf(IllegalMonitorStateException.class);
        assertThat(couldTake(elsewhere.readLock())).isFalse();
        assertThat(couldTake(read)).isFalse();
        read.unlock();
        assertThat(couldTake(elsewhere.writeLock())).isFalse();
        read.unlock();
        assertThat(couldTake(elsewhere.writeLock())).isTrue();
    }

    @Test
    void the_halves_may_be_unlocked_in_any_order() throws Exception {
        write.lock();
        read.lock();
        write.lock();
        read.unlock();
        assertThatThrownBy(read::unlock).isInstanceOf(IllegalMonitorStateException.class);
        assertThat(write.getHoldCount()).isEqualTo(2);
        write.unlock();
        assertThat(couldTake(elsewhere.readLock())).isFalse();
        write.unlock();
        assertThat(couldTake(elsewhere.writeLock())).isTrue();
    }

    @Test
    void a_reader_that_wants_to_write_is_refused_and_keeps_reading() throws Exception {
        read.lock();
        assertThatThrownBy(write::lock)
                .isInstanceOf(IllegalStateException.class)
                .hasMessage("Thread \"" + Thread.currentThread().getName() + "\" would wait for itself without end: it"
                        + " holds the read lock \"catalog\", and the write lock waits for the end of all reads"
                        + " (expected: unlock the read lock before, or take the write lock first and read under it)");
        assertThatThrownBy(write::lockInterruptibly).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> write.lock(10, SECONDS)).isInstanceOf(IllegalStateException.class);
        assertThat(write.tryLock()).isFalse();
        assertThat(write.tryLock(1, MILLISECONDS)).isFalse();
        assertThat(Inside.engine(one).pools().lanes()).isEqualTo(1);
        assertThat(read.getHoldCount()).isEqualTo(1);
        read.unlock();
        write.lock();
        write.unlock();
    }

    @Test
    void a_writer_that_only_reads_any_more_cannot_upgrade_either() throws Exception {
        write.lock();
        read.lock();
        write.unlock();
        assertThatThrownBy(write::lock).isInstanceOf(IllegalStateException.class);
        assertThat(write.tryLock()).isFalse();
        read.lock();
        read.unlock();
        read.unlock();
        assertThat(couldTake(elsewhere.writeLock())).isTrue();
    }

    @Test
    void a_thread_that_would_wait_for_its_own_share_is_refused() throws Exception {
        read.lock();
        assertThatThrownBy(() -> one.acquireWrite("catalog"))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("would wait for itself without end: it holds the read lock \"catalog\"");
        assertThat(one.tryAcquireWrite("catalog")).isEmpty();
        try (Lease beside = one.acquireRead("catalog")) {
            beside.ensureValid();
        }
        read.unlock();

        write.lock();
        assertThatThrownBy(() -> one.acquireRead("catalog")).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> one.acquireWrite("catalog")).isInstanceOf(IllegalStateException.class);
        assertThat(one.tryAcquireRead("catalog", ofSeconds(0))).isEmpty();
        write.unlock();

        try (Lease own = one.acquireRead("catalog", LockOptions.defaults().releasedByThread())) {
            assertThatThrownBy(() -> one.acquireWrite("catalog")).isInstanceOf(IllegalStateException.class);
            assertThatThrownBy(write::lock).isInstanceOf(IllegalStateException.class);
            own.ensureValid();
        }
    }

    // --- interrupts, close, loss ---

    @Test
    void an_interrupt_ends_a_wait_that_may_be_interrupted_and_no_other() throws Exception {
        elsewhere.writeLock().lock();
        AtomicInteger interrupted = new AtomicInteger();
        List<Thread> threads = new ArrayList<>();
        for (Lock half : List.of(read, write)) {
            Thread thread = new Thread(() -> {
                try {
                    half.lockInterruptibly();
                } catch (InterruptedException e) {
                    interrupted.incrementAndGet();
                }
            });
            thread.start();
            threads.add(thread);
            // In turn: a reader that comes before the writer would share the lane of the first.
            awaitWaiting(threads.size());
        }
        CompletableFuture<Boolean> flag = new CompletableFuture<>();
        Thread patient = new Thread(() -> {
            read.lock();
            flag.complete(Thread.interrupted());
            read.unlock();
        });
        patient.start();
        awaitWaiting(3);
        threads.forEach(Thread::interrupt);
        patient.interrupt();
        for (Thread each : threads) {
            each.join();
        }
        assertThat(interrupted).hasValue(2);
        assertThat(flag).isNotDone();
        elsewhere.writeLock().unlock();
        patient.join();
        assertThat(flag).isCompletedWithValue(true);

        Thread.currentThread().interrupt();
        assertThatThrownBy(() -> read.tryLock(1, SECONDS)).isInstanceOf(InterruptedException.class);
        Thread.currentThread().interrupt();
        assertThatThrownBy(() -> one.acquireRead("catalog")).isInstanceOf(InterruptedException.class);
    }

    @Test
    void a_close_fails_waiting_threads_and_the_unlock_of_its_own_says_lost() throws Exception {
        read.lock();
        read.lock();
        Thread writer = new Thread(
                () -> assertThatThrownBy(elsewhere.writeLock()::lock).isInstanceOf(LockClientClosedException.class));
        writer.start();
        await().until(() -> !couldTake(read));
        two.close();
        writer.join();
        assertThat(couldTake(read)).isTrue();

        one.close();
        assertThat(read.isHeldByCurrentThread()).isFalse();
        assertThatThrownBy(read::unlock).isInstanceOf(LeaseLostException.class);
        assertThatThrownBy(read::unlock)
                .isInstanceOf(LeaseLostException.class)
                .hasMessageContaining("The read lock \"catalog\" was lost before it was unlocked");
        assertThatThrownBy(read::unlock).isInstanceOf(IllegalMonitorStateException.class);
        assertThatThrownBy(read::lock).isInstanceOf(LockClientClosedException.class);
        one.reopen();
        read.lock();
        read.unlock();
    }

    @Test
    void a_forced_unlock_ends_all_holds_and_their_threads_hear_of_it() throws Exception {
        read.lock();
        inThread(() -> {
            read.lock();
            assertThat(elsewhere.writeLock().isLocked()).isFalse();
            assertThat(elsewhere.readLock().isLocked()).isTrue();
            assertThat(elsewhere.writeLock().forceUnlock()).isTrue();
            assertThat(elsewhere.writeLock().forceUnlock()).isFalse();
            await().pollInSameThread().until(() -> !read.isHeldByCurrentThread());
            assertThatThrownBy(read::unlock).isInstanceOf(LeaseLostException.class);
            return true;
        });
        await().pollInSameThread().until(() -> !read.isHeldByCurrentThread());
        // A lost lock is not entered again, and not counted with the next one.
        read.lock();
        assertThat(read.getHoldCount()).isEqualTo(1);
        read.unlock();
        assertThatThrownBy(read::unlock).isInstanceOf(LeaseLostException.class);
        assertThatThrownBy(read::unlock).isInstanceOf(IllegalMonitorStateException.class);

        write.lock();
        read.lock();
        assertThat(write.isLocked()).isTrue();
        assertThat(read.isLocked()).isFalse();
        assertThat(write.forceUnlock()).isTrue();
        assertThat(write.isHeldByCurrentThread()).isFalse();
        // With another lock of the thread in between, the lost one is still told.
        assertThatThrownBy(write::unlock).isInstanceOf(LeaseLostException.class);
        read.lock();
        assertThatThrownBy(write::unlock).isInstanceOf(LeaseLostException.class);
        read.unlock();
    }

    @Test
    void the_hold_of_a_thread_that_has_died_is_not_renewed_for_ever() throws Exception {
        LockClient brief = LockClient.builder()
                .store(server::connect)
                .leaseTime(ofSeconds(1))
                .build();
        inThread(() -> {
            brief.getReadWriteLock("catalog").readLock().lock();
            return true;
        });
        assertThat(write.tryLock(60, SECONDS)).isTrue();
        write.unlock();
        brief.close();
    }

    @Test
    void a_length_of_its_own_ends_the_hold() throws Exception {
        read.lock(200, MILLISECONDS);
        assertThat(read.remaining()).isLessThanOrEqualTo(ofSeconds(1));
        assertThat(write.remaining()).isZero();
        await().pollInSameThread().until(() -> !read.isHeldByCurrentThread());
        assertThatThrownBy(read::unlock).isInstanceOf(LeaseLostException.class);

        assertThat(write.tryLock(0, 60, SECONDS)).isTrue();
        write.extend(ofSeconds(100));
        assertThat(write.remaining()).isGreaterThan(ofSeconds(61));
        assertThatThrownBy(() -> read.extend(ofSeconds(1))).isInstanceOf(IllegalMonitorStateException.class);
        write.unlock();
    }

    // --- races ---

    @Test
    void writers_are_alone_and_readers_are_not_and_all_come_through() throws Exception {
        AtomicInteger readers = new AtomicInteger();
        AtomicInteger writers = new AtomicInteger();
        AtomicInteger mostReaders = new AtomicInteger();
        AtomicInteger wrong = new AtomicInteger();
        List<Callable<Boolean>> tasks = new ArrayList<>();
        for (int i = 0; i < 16; i++) {
            DistributedReadWriteLock lock = i % 2 == 0 ? catalog : elsewhere;
            boolean writes = i % 4 == 3;
            tasks.add(() -> {
                for (int round = 0; round < 50; round++) {
                    Lock half = writes ? lock.writeLock() : lock.readLock();
                    half.lock();
                    if (writes) {
                        wrong.addAndGet(writers.getAndIncrement() + readers.get());
                        lock.readLock().lock();
                        writers.decrementAndGet();
                        half.unlock();
                        half = lock.readLock();
                        readers.incrementAndGet();
                        Thread.onSpinWait();
                    } else {
                        mostReaders.accumulateAndGet(readers.incrementAndGet(), Math::max);
                        wrong.addAndGet(writers.get());
                        Thread.onSpinWait();
                    }
                    readers.decrementAndGet();
                    half.unlock();
                }
                return true;
            });
        }
        Together.assertAllTrue(tasks);
        assertThat(wrong).hasValue(0);
        assertThat(mostReaders.get()).isPositive();
    }

    @Test
    void readers_really_read_at_once() throws Exception {
        CountDownLatch all = new CountDownLatch(8);
        List<Callable<Boolean>> tasks = new ArrayList<>();
        for (int i = 0; i < 8; i++) {
            DistributedReadWriteLock lock = i % 2 == 0 ? catalog : elsewhere;
            tasks.add(() -> {
                lock.readLock().lock();
                all.countDown();
                boolean together = all.await(60, SECONDS);
                lock.readLock().unlock();
                return together;
            });
        }
        Together.assertAllTrue(tasks);
    }

    @Test
    void two_threads_that_would_wait_for_each_other_are_told() throws Exception {
        DistributedLock prices = one.getReadWriteLock("prices").writeLock();
        CountDownLatch both = new CountDownLatch(2);
        write.lock();
        CompletableFuture<Throwable> outcome = new CompletableFuture<>();
        Thread second = new Thread(() -> {
            prices.lock();
            both.countDown();
            try {
                both.await();
                read.lock();
                read.unlock();
                outcome.complete(new AssertionError("not refused"));
            } catch (Throwable e) {
                outcome.complete(e);
            } finally {
                prices.unlock();
            }
        });
        second.start();
        both.countDown();
        both.await();
        Throwable mine = null;
        try {
            prices.lock();
            prices.unlock();
        } catch (DeadlockException e) {
            mine = e;
        }
        write.unlock();
        second.join();
        boolean firstRefused = mine != null;
        boolean secondRefused = outcome.get() instanceof DeadlockException;
        assertThat(firstRefused || secondRefused).isTrue();
    }

    @Test
    void names_are_shown() throws ExecutionException {
        assertThat(catalog.name()).isEqualTo("catalog");
        assertThat(catalog).hasToString("DistributedReadWriteLock[\"catalog\"]");
        assertThat(read).hasToString("DistributedLock[read lock \"catalog\"]");
        assertThat(write).hasToString("DistributedLock[write lock \"catalog\"]");
        assertThat(read.name()).isEqualTo("catalog");
    }
}
