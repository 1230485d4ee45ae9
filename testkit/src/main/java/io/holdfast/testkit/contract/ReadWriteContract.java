package io.holdfast.testkit.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.holdfast.DistributedReadWriteLock;
import io.holdfast.Lease;
import io.holdfast.LeaseLostException;
import io.holdfast.LockClient;
import io.holdfast.LockOptions;
import io.holdfast.spi.LockStore;
import io.holdfast.spi.StoreContext;
import io.holdfast.spi.TimeSource;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.Lock;
import java.util.function.Function;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * The part of the contract of pools on read-write locks, as clients use them: a reader is a hold of weight 1, a writer
 * one of the whole capacity.
 */
abstract class ReadWriteContract extends LockStoreContract {

    private static final Duration STEP = Duration.ofMillis(5);

    private final List<LockClient> lockClients = new ArrayList<>();

    private LockClient lockClient() {
        return lockClient(this::open);
    }

    private LockClient lockClient(Function<StoreContext, LockStore> store) {
        // Stages complete at once: no thread of its own is behind when time is virtual.
        LockClient made = LockClient.builder()
                .store(store)
                .timeSource(time())
                .callbackExecutor(Runnable::run)
                .build();
        lockClients.add(made);
        return made;
    }

    @AfterEach
    final void closeLockClients() {
        lockClients.forEach(LockClient::close);
    }

    private CompletableFuture<Lease> reader(LockClient by) {
        return by.acquireReadAsync(name).toCompletableFuture();
    }

    private CompletableFuture<Lease> writer(LockClient by) {
        return by.acquireWriteAsync(name).toCompletableFuture();
    }

    /** Waits for a lease that the store can give. */
    private Lease take(CompletionStage<Lease> stage) {
        CompletableFuture<Lease> lease = stage.toCompletableFuture();
        for (long waited = 0; !lease.isDone() && waited < LONG.toMillis(); waited += STEP.toMillis()) {
            elapse(STEP);
        }
        assertThat(lease).isCompleted();
        return lease.join();
    }

    /** Waits until the store has the request of a waiter in its queue. */
    private void awaitRefusedReaders(LockClient by) {
        for (long waited = 0; waited < LONG.toMillis(); waited += STEP.toMillis()) {
            Optional<Lease> read = by.tryAcquireRead(name);
            if (read.isEmpty()) {
                return;
            }
            read.get().release();
            elapse(STEP);
        }
        throw new AssertionError("a reader still overtakes the writer that waits");
    }

    @Test
    void readersReadAtOnceAndAWriterIsAlone() {
        LockClient one = lockClient();
        LockClient two = lockClient();
        Lease first = take(reader(one));
        Lease second = take(reader(two));
        Lease third = take(reader(one));
        assertThat(List.of(first, second, third)).allMatch(Lease::isValid).noneMatch(Lease::isExclusive);
        assertThat(one.tryAcquireWrite(name)).isEmpty();
        first.release();
        second.release();
        assertThat(two.tryAcquireWrite(name)).isEmpty();
        third.release();

        Lease alone = take(writer(two));
        assertThat(alone.isExclusive()).isTrue();
        assertThat(alone.fencingToken()).isGreaterThan(third.fencingToken());
        assertThat(one.tryAcquireRead(name)).isEmpty();
        assertThat(two.tryAcquireRead(name)).isEmpty();
        alone.release();
        assertThat(take(reader(one)).fencingToken()).isGreaterThan(alone.fencingToken());
    }

    // --- bad input ---

    @Test
    void badInputIsRefusedInOneSentenceBeforeAnythingIsSent() {
        AtomicInteger sent = new AtomicInteger();
        LockClient client = lockClient(context -> counting(open(context), sent));
        DistributedReadWriteLock lock = client.getReadWriteLock(name);
        assertRefused(
                () -> client.permits(name, 0),
                "limit of the permits \"" + name + "\": 0 (expected: from 1 to 1048576)");
        assertRefused(
                () -> client.permits(name, -1),
                "limit of the permits \"" + name + "\": -1 (expected: from 1 to 1048576)");
        assertRefused(
                () -> client.permits(name, 1_048_577),
                "limit of the permits \"" + name + "\": 1048577 (expected: from 1 to 1048576)");
        assertRefused(
                () -> client.permits(name, 5).weight(6),
                "weight: 6 of the permits \"" + name + "\" (expected: from 1 to their limit, 5)");
        assertRefused(
                () -> client.permits(name, 5).weight(0),
                "weight: 0 of the permits \"" + name + "\" (expected: from 1 to their limit, 5)");
        for (Lock half : List.of(lock.readLock(), lock.writeLock())) {
            assertThatThrownBy(half::newCondition).isInstanceOf(UnsupportedOperationException.class);
        }
        assertThat(sent).hasValue(0);

        assertThat(lock.readLock().tryLock()).isTrue();
        int before = sent.get();
        assertThat(before).isPositive();
        assertThatThrownBy(lock.writeLock()::lock)
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining(name)
                .hasMessageContaining("(expected: ");
        assertThat(lock.writeLock().tryLock()).isFalse();
        assertThat(sent).hasValue(before);
        lock.readLock().unlock();
    }

    /** A guard of a database asks whether the lease is exclusive, and refuses any other one. */
    @Test
    void aPermitIsNoExclusiveLease() {
        Lease permit = take(lockClient().permits(name, 1).acquireAsync());
        assertThat(permit.isExclusive()).isFalse();
        permit.release();
    }

    private static void assertRefused(Callable<?> call, String message) {
        assertThatThrownBy(call::call)
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage(message);
    }

    /** Returns the store, whose commands are counted: those of locks and those of pools. */
    private static LockStore counting(LockStore store, AtomicInteger sent) {
        return (LockStore) Proxy.newProxyInstance(
                LockStore.class.getClassLoader(), new Class<?>[] {LockStore.class}, (self, method, args) -> {
                    if (CompletionStage.class.isAssignableFrom(method.getReturnType())) {
                        sent.incrementAndGet();
                    }
                    try {
                        Object result = method.invoke(store, args);
                        return method.getName().equals("pools")
                                ? ((Optional<?>) result).map(pools -> counting((LockStore) pools, sent))
                                : result;
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                });
    }

    // --- readers and writers ---

    @QueueTest
    void aWriterThatWaitsStopsNewReadersOfEveryClient() {
        LockClient one = lockClient();
        LockClient two = lockClient();
        Lease before = take(reader(one));
        CompletableFuture<Lease> writing = writer(two);
        awaitRefusedReaders(one);
        assertThat(two.tryAcquireRead(name)).isEmpty();
        CompletableFuture<Lease> behind = reader(one);
        assertThat(writing).isNotDone();
        before.release();

        Lease writer = take(writing);
        assertThat(behind).isNotDone();
        writer.release();
        assertThat(take(behind).fencingToken()).isGreaterThan(writer.fencingToken());
    }

    @QueueTest
    void aWriterThatGivesUpLetsTheReadersBehindItIn() {
        LockClient one = lockClient();
        LockClient two = lockClient();
        take(reader(one));
        CompletableFuture<Lease> writing = writer(two);
        awaitRefusedReaders(one);
        CompletableFuture<Lease> behind = reader(one);
        writing.cancel(false);
        take(behind).ensureValid();
    }

    @Test
    void aWriterComesWhenTheLastReadHasRunOut() {
        LockClient one = lockClient();
        LockClient two = lockClient();
        Lease fixed = take(one.acquireReadAsync(name, LockOptions.defaults().leaseFor(SHORT)));
        CompletableFuture<Lease> writing = writer(two);
        take(writing).ensureValid();
        assertThat(fixed.isValid()).isFalse();
        assertThatThrownBy(fixed::release).isInstanceOf(LeaseLostException.class);
    }

    @Test
    void aReadWriteLockAndTheOtherThingsOfItsNameAreDifferent() {
        LockClient one = lockClient();
        Lease writer = take(writer(one));
        Lease lock = take(one.acquireAsync(name));
        Lease permit = take(one.permits(name, 1).acquireAsync());
        assertThat(List.of(writer, lock, permit)).allMatch(Lease::isValid);
        assertThat(one.tryAcquireRead(name)).isEmpty();
        assertThat(one.inspect(name).holder()).contains(lock.holderId());
    }

    @Test
    void aForcedUnlockEndsAllHolds() {
        LockClient one = lockClient();
        LockClient two = lockClient();
        DistributedReadWriteLock lock = two.getReadWriteLock(name);
        assertThat(lock.readLock().isLocked()).isFalse();
        Lease first = take(reader(one));
        Lease second = take(reader(two));
        assertThat(lock.readLock().isLocked()).isTrue();
        assertThat(lock.writeLock().isLocked()).isFalse();
        assertThat(lock.writeLock().forceUnlock()).isTrue();
        assertThat(second.isValid()).isFalse();
        assertThat(lock.readLock().isLocked()).isFalse();
        take(writer(two)).ensureValid();
        assertThatThrownBy(first::release).isInstanceOf(LeaseLostException.class);
    }

    @Test
    void readersAndWritersInThreadsNeverOverlap() throws Exception {
        assumeTrue(time() == TimeSource.system(), "virtual time");
        LockClient one = lockClient();
        LockClient two = lockClient();
        AtomicInteger readers = new AtomicInteger();
        AtomicInteger writers = new AtomicInteger();
        AtomicInteger overlaps = new AtomicInteger();
        List<Callable<Boolean>> tasks = new ArrayList<>();
        for (int i = 0; i < 8; i++) {
            DistributedReadWriteLock lock = (i % 2 == 0 ? one : two).getReadWriteLock(name);
            boolean writes = i >= 6;
            tasks.add(() -> {
                for (int round = 0; round < 20; round++) {
                    Lock half = writes ? lock.writeLock() : lock.readLock();
                    half.lock();
                    try {
                        if (writes) {
                            overlaps.addAndGet(writers.getAndIncrement() + readers.get());
                            writers.getAndDecrement();
                        } else {
                            readers.getAndIncrement();
                            overlaps.addAndGet(writers.get());
                            readers.getAndDecrement();
                        }
                    } finally {
                        half.unlock();
                    }
                }
                return true;
            });
        }
        assertThat(together(tasks)).containsOnly(true);
        assertThat(overlaps).hasValue(0);
        assertThat(one.getReadWriteLock(name).readLock().isLocked()).isFalse();
    }
}
