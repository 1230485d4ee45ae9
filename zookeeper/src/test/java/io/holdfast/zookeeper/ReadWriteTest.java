package io.holdfast.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.CardDetail;
import io.holdfast.Lease;
import io.holdfast.LockClient;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReadWriteLock;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Readers and writers of several clients on a real server. */
@Timeout(180)
class ReadWriteTest extends WithServer {

    @Test
    void a_writer_waits_for_the_readers_and_stops_new_ones() throws Exception {
        LockClient one = client();
        LockClient two = client();
        Lease first = one.acquireRead("catalog");
        Lease second = two.acquireRead("catalog");
        CompletableFuture<Lease> writer = two.acquireWriteAsync("catalog").toCompletableFuture();
        Thread.sleep(300);
        List<CompletableFuture<Lease>> later = new ArrayList<>();
        for (int i = 0; i < 10; i++) {
            later.add((i % 2 == 0 ? one : two).acquireReadAsync("catalog").toCompletableFuture());
        }
        assertThat(one.tryAcquireRead("catalog")).isEmpty();
        first.release();
        Thread.sleep(300);
        assertThat(writer).isNotDone();
        second.release();
        Lease written = writer.get(40, TimeUnit.SECONDS);
        assertThat(later).noneMatch(CompletableFuture::isDone);
        written.release();
        for (CompletableFuture<Lease> reader : later) {
            assertThat(reader.get(40, TimeUnit.SECONDS).fencingToken()).isGreaterThan(written.fencingToken());
        }
        for (CompletableFuture<Lease> reader : later) {
            reader.join().release();
        }
    }

    @Test
    void threads_of_many_clients_read_together_and_write_alone() throws Exception {
        AtomicInteger readers = new AtomicInteger();
        AtomicInteger writers = new AtomicInteger();
        List<Throwable> errors = new ArrayList<>();
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < 9; i++) {
            boolean writes = i % 3 == 0;
            ReadWriteLock lock = (writes ? client() : clients.get(0)).getReadWriteLock("shared");
            Thread thread = new Thread(() -> {
                try {
                    for (int round = 0; round < 15; round++) {
                        if (writes) {
                            write(lock, readers, writers);
                        } else {
                            read(lock, readers, writers);
                        }
                    }
                } catch (Throwable e) {
                    synchronized (errors) {
                        errors.add(e);
                    }
                }
            });
            threads.add(thread);
            thread.start();
        }
        for (Thread thread : threads) {
            thread.join(120_000);
            assertThat(thread.isAlive()).isFalse();
        }
        assertThat(errors).isEmpty();
    }

    /** Reads under the write lock, too, and keeps that until the last read has ended. */
    private static void write(ReadWriteLock lock, AtomicInteger readers, AtomicInteger writers) {
        lock.writeLock().lock();
        assertThat(writers.incrementAndGet()).isEqualTo(1);
        lock.readLock().lock();
        lock.writeLock().unlock();
        LockSupport.parkNanos(500_000);
        assertThat(readers).hasValue(0);
        writers.decrementAndGet();
        lock.readLock().unlock();
    }

    private static void read(ReadWriteLock lock, AtomicInteger readers, AtomicInteger writers) {
        lock.readLock().lock();
        readers.incrementAndGet();
        LockSupport.parkNanos(2_000_000);
        assertThat(writers).hasValue(0);
        readers.decrementAndGet();
        lock.readLock().unlock();
    }

    private LockClient client() {
        return open("/readers?sessionTimeout=30s", CardDetail.OFF);
    }
}
