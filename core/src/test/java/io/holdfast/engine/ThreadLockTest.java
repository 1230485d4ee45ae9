package io.holdfast.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.fail;
import static org.awaitility.Awaitility.await;

import io.holdfast.DistributedLock;
import io.holdfast.Inside;
import io.holdfast.Lease;
import io.holdfast.LeaseLostException;
import io.holdfast.LockClient;
import io.holdfast.LockOptions;
import io.holdfast.memory.MemoryLockStore;
import io.holdfast.spi.StoreContext;
import io.holdfast.spi.TimeSource;
import java.lang.reflect.Method;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The lock as {@link java.util.concurrent.locks.Lock}: real threads, real time, memory store. Rule 8 above all. */
@Timeout(60)
class ThreadLockTest {

    private final MemoryLockStore.Server server = new MemoryLockStore.Server(TimeSource.system());
    private final ProbeStore store = new ProbeStore(server.connect(new StoreContext("one", TimeSource.system())));
    private final LockClient client = client("one", store);
    private final LockClient other = client("two", server.connect(new StoreContext("two", TimeSource.system())));
    private final DistributedLock lock = client.getLock("a");

    private static LockClient client(String id, io.holdfast.spi.LockStore store) {
        return Inside.settings(LockClient.builder(), settings -> settings.clientId = id)
                .store(store)
                .leaseTime(Duration.ofSeconds(2))
                .build();
    }

    @AfterEach
    void close() {
        client.close();
        other.close();
        assertThat(Inside.engine(client).size()).isZero();
        await().untilAsserted(() -> assertThat(server.size()).isZero());
    }

    @Test
    void nested_locking_is_counted_and_costs_no_command() {
        lock.lock();
        lock.lock();
        assertThat(client.getLock("a").tryLock()).isTrue();
        assertThat(lock.getHoldCount()).isEqualTo(3);
        lock.unlock();
        lock.unlock();
        assertThat(lock.isHeldByCurrentThread()).isTrue();
        assertThat(store.commands).containsExactly("acquire");
        lock.unlock();

        assertThat(lock.isHeldByCurrentThread()).isFalse();
        assertThat(lock.getHoldCount()).isZero();
        assertThat(store.commands).containsExactly("acquire", "release");
    }

    @Test
    void another_thread_neither_enters_nor_unlocks() throws Exception {
        lock.lock();
        assertThat(inThread(() -> lock.tryLock())).isFalse();
        assertThat(inThread(lock::isHeldByCurrentThread)).isFalse();
        assertThatThrownBy(() -> inThread(() -> {
                    lock.unlock();
                    return null;
                }))
                .hasCauseInstanceOf(IllegalMonitorStateException.class)
                .hasMessageContaining("does not hold it");
        lock.unlock();
        assertThatThrownBy(lock::unlock).isInstanceOf(IllegalMonitorStateException.class);
    }

    @Test
    void says_what_the_store_knows() {
        assertThat(lock.isLocked()).isFalse();
        other.getLock("a").lock();
        assertThat(lock.isLocked()).isTrue();
        assertThat(client.inspect("a").holder())
                .hasValueSatisfying(holder -> assertThat(holder).startsWith("two:"));
        other.getLock("a").unlock();
        assertThat(lock.isLocked()).isFalse();
    }

    @Test
    void unlock_of_a_lost_lock_says_lost_once_for_each_hold_and_then_not_held() throws InterruptedException {
        lock.lock();
        lock.lock();
        assertThat(other.getLock("a").forceUnlock()).isTrue();
        untilLost();

        assertThatThrownBy(lock::unlock).isInstanceOf(LeaseLostException.class);
        assertThatThrownBy(lock::unlock).isInstanceOf(LeaseLostException.class);
        assertThatThrownBy(lock::unlock).isInstanceOf(IllegalMonitorStateException.class);
    }

    /** For a moment, a lease that was lost is still the present one of its name. */
    @Test
    void an_unlock_too_many_says_not_held_even_while_the_loss_is_under_way() throws InterruptedException {
        lock.lock();
        ActiveLease lost = ((ThreadLock) lock).ownedBy(Thread.currentThread());
        other.getLock("a").forceUnlock();
        untilLost();
        ThreadLock underWay = new ThreadLock(() -> fail("the engine is not asked"), "a") {
            @Override
            ActiveLease ownedBy(Thread thread) {
                return lost;
            }
        };

        assertThatThrownBy(underWay::unlock).isInstanceOf(LeaseLostException.class);
        assertThatThrownBy(underWay::unlock).isInstanceOf(IllegalMonitorStateException.class);
    }

    @Test
    void a_thread_that_lost_the_lock_can_take_it_again_and_unlocks_that_first() throws InterruptedException {
        lock.lock();
        other.getLock("a").forceUnlock();
        untilLost();
        lock.lock();
        assertThat(lock.getHoldCount()).isEqualTo(1);
        lock.unlock();

        assertThatThrownBy(lock::unlock).isInstanceOf(LeaseLostException.class);
    }

    @Test
    void a_lease_of_its_own_ends_and_the_next_thread_gets_the_lock() throws Exception {
        lock.lock(300, TimeUnit.MILLISECONDS);
        assertThat(lock.remaining()).isPositive();
        assertThat(inThread(() -> {
                    boolean got = lock.tryLock(5, TimeUnit.SECONDS);
                    lock.unlock();
                    return got;
                }))
                .isTrue();
        assertThatThrownBy(lock::unlock)
                .isInstanceOf(LeaseLostException.class)
                .hasMessageContaining("fixed time is over");
    }

    @Test
    void tryLock_waits_no_longer_than_told() throws Exception {
        other.getLock("a").lock();
        long began = System.nanoTime();
        assertThat(lock.tryLock(200, TimeUnit.MILLISECONDS)).isFalse();
        assertThat(System.nanoTime() - began).isBetween(200_000_000L, 2_000_000_000L);
        assertThat(lock.tryLock(-1, TimeUnit.SECONDS)).isFalse();
        other.getLock("a").unlock();
        assertThat(lock.tryLock(Long.MAX_VALUE, TimeUnit.DAYS)).isTrue();
        lock.unlock();
    }

    @Test
    void lock_keeps_waiting_through_an_interrupt_and_restores_the_flag() throws Exception {
        other.getLock("a").lock();
        CountDownLatch started = new CountDownLatch(1);
        FutureTask<Boolean> waiting = new FutureTask<>(() -> {
            started.countDown();
            lock.lock();
            boolean flag = Thread.interrupted();
            lock.unlock();
            return flag;
        });
        Thread thread = start(waiting);
        started.await();
        await().until(() -> other.inspect("a").waitingClients() == 1);
        thread.interrupt();
        thread.interrupt();
        assertThatThrownBy(() -> waiting.get(200, TimeUnit.MILLISECONDS))
                .isInstanceOf(java.util.concurrent.TimeoutException.class);
        other.getLock("a").unlock();

        assertThat(waiting.get()).isTrue();
    }

    @Test
    void interruptible_forms_throw_and_leave_nothing_behind() throws Exception {
        other.getLock("a").lock();
        List<InterruptibleCall> forms = List.of(
                lock::lockInterruptibly,
                () -> lock.tryLock(1, TimeUnit.MINUTES),
                () -> lock.tryLock(1_000, 10, TimeUnit.SECONDS),
                () -> client.acquire("a").release(),
                () -> client.tryAcquire("a", LockOptions.defaults().waitAtMost(Duration.ofMinutes(1)))
                        .ifPresent(Lease::release),
                () -> client.run("a", LockOptions.defaults(), lease -> {}));
        for (InterruptibleCall form : forms) {
            FutureTask<Boolean> waiting = new FutureTask<>(() -> {
                try {
                    form.call();
                    return false;
                } catch (InterruptedException e) {
                    return !Thread.currentThread().isInterrupted();
                }
            });
            Thread thread = start(waiting);
            await().until(() -> other.inspect("a").waitingClients() == 1);
            thread.interrupt();

            assertThat(waiting.get()).isTrue();
            assertThat(other.inspect("a").waitingClients()).isZero();
            assertThat(Inside.engine(client).size()).isZero();
        }
        other.getLock("a").unlock();
    }

    @Test
    void an_interrupt_before_the_wait_counts_too_and_no_command_is_sent() throws Exception {
        assertThat(inThread(() -> {
                    Thread.currentThread().interrupt();
                    try {
                        lock.lockInterruptibly();
                        return false;
                    } catch (InterruptedException e) {
                        return store.commands.isEmpty();
                    }
                }))
                .isTrue();
    }

    @Test
    void lock_and_tryLock_work_in_an_interrupted_thread_and_keep_the_flag() throws Exception {
        assertThat(inThread(() -> {
                    Thread.currentThread().interrupt();
                    lock.lock();
                    boolean nested = lock.tryLock();
                    lock.unlock();
                    lock.unlock();
                    return nested && Thread.interrupted();
                }))
                .isTrue();
        assertThat(lock.isLocked()).isFalse();
    }

    @Test
    void has_no_conditions() {
        assertThatThrownBy(lock::newCondition).isInstanceOf(UnsupportedOperationException.class);
    }

    @Test
    void many_threads_of_two_clients_never_overlap() throws Exception {
        contend(Thread::new);
    }

    /** On a JDK that has them. */
    @Test
    void many_virtual_threads_of_two_clients_never_overlap() throws Exception {
        Method virtual;
        try {
            virtual = Thread.class.getMethod("startVirtualThread", Runnable.class);
        } catch (NoSuchMethodException e) {
            org.junit.jupiter.api.Assumptions.abort("no virtual threads on this JDK");
            return;
        }
        contend(task -> {
            Thread[] made = new Thread[1];
            try {
                made[0] = (Thread) virtual.invoke(null, task);
            } catch (ReflectiveOperationException e) {
                throw new IllegalStateException(e);
            }
            return made[0];
        });
    }

    /** Not by Awaitility, which asks from a thread of its own. */
    private void untilLost() throws InterruptedException {
        while (lock.isHeldByCurrentThread()) {
            Thread.sleep(10);
        }
    }

    private interface ThreadMaker {
        Thread make(Runnable task);
    }

    private void contend(ThreadMaker maker) throws InterruptedException {
        int threads = 16;
        int rounds = 200;
        AtomicInteger inside = new AtomicInteger();
        AtomicInteger overlaps = new AtomicInteger();
        int[] unguarded = new int[1];
        long[] lastToken = new long[1];
        List<Thread> started = new ArrayList<>();
        for (int i = 0; i < threads; i++) {
            DistributedLock mine = (i % 2 == 0 ? client : other).getLock("a");
            Thread thread = maker.make(() -> {
                for (int round = 0; round < rounds; round++) {
                    mine.lock();
                    try {
                        if (inside.incrementAndGet() != 1 || mine.fencingToken() <= lastToken[0]) {
                            overlaps.incrementAndGet();
                        }
                        lastToken[0] = mine.fencingToken();
                        unguarded[0]++;
                        inside.decrementAndGet();
                    } finally {
                        mine.unlock();
                    }
                }
            });
            if (thread.getState() == Thread.State.NEW) {
                thread.start();
            }
            started.add(thread);
        }
        for (Thread thread : started) {
            thread.join();
        }
        assertThat(overlaps).hasValue(0);
        assertThat(unguarded[0]).isEqualTo(threads * rounds);
    }

    private interface InterruptibleCall {
        void call() throws InterruptedException;
    }

    private static Thread start(FutureTask<?> task) {
        Thread thread = new Thread(task);
        thread.start();
        return thread;
    }

    private static <T> T inThread(java.util.concurrent.Callable<T> call)
            throws ExecutionException, InterruptedException {
        FutureTask<T> task = new FutureTask<>(call);
        start(task);
        return task.get();
    }

    /** Redisson's idiom for a renewed lock. */
    @Test
    void a_lease_of_minus_one_is_refused_with_the_way_out() {
        DistributedLock lock = client.getLock("a");
        for (ThrowingCallable each : List.<ThrowingCallable>of(
                () -> lock.lock(-1, TimeUnit.SECONDS), () -> lock.tryLock(1, -1, TimeUnit.SECONDS))) {
            assertThatThrownBy(each)
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("-1 means \"renewed\" in Redisson: use lock() or tryLock(wait, unit)");
        }
    }
}
