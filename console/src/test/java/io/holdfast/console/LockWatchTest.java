package io.holdfast.console;

import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.CardDetail;
import io.holdfast.DistributedLock;
import io.holdfast.LockClient;
import io.holdfast.LockException;
import io.holdfast.memory.MemoryLockStore;
import io.holdfast.memory.VirtualTime;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Semaphore;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Real clients on a store in memory, under virtual time. */
@Timeout(60)
class LockWatchTest {

    private final VirtualTime time = new VirtualTime();
    private final MemoryLockStore.Server server = new MemoryLockStore.Server(time);
    private final List<LockClient> clients = new ArrayList<>();
    private final List<Object> kept = new ArrayList<>();
    private LockClient a;
    private LockClient b;
    private LockWatch watch;

    /** Each lets one thread begin a wait. */
    private final Semaphore turns = new Semaphore(0);

    private final List<String> logged = new ArrayList<>();
    private final java.util.logging.Logger logger = java.util.logging.Logger.getLogger("io.holdfast.console");
    private final java.util.logging.Handler handler = new java.util.logging.Handler() {
        @Override
        public void publish(java.util.logging.LogRecord line) {
            logged.add(line.getMessage());
        }

        @Override
        public void flush() {}

        @Override
        public void close() {}
    };

    @BeforeEach
    void open() {
        a = client("a", CardDetail.NAMES);
        b = client("b", CardDetail.NAMES);
        watch = new LockWatch(client("reader", CardDetail.OFF), time, ofSeconds(5));
        logger.addHandler(handler);
        logger.setUseParentHandlers(false);
    }

    @AfterEach
    void close() {
        logger.removeHandler(handler);
        clients.forEach(LockClient::close);
    }

    @Test
    void aDeadlockCountsOnceEachClientHasSaidItTwice() {
        deadlock();
        run(8);
        LockPicture first = watch.look();
        assertThat(first.cycles()).isEmpty();
        assertThat(first.suspectedCycles()).hasSize(1);
        assertThat(first.lock("x").orElseThrow().flags()).isEmpty();

        // The same words again, as nobody has written since: that is no second word.
        assertThat(watch.look().cycles()).isEmpty();

        run(7);
        LockPicture second = watch.look();
        assertThat(second.suspectedCycles()).isEmpty();
        assertThat(second.cycles()).hasSize(1);
        assertThat(second.lock("x").orElseThrow().flags()).containsExactly(Flag.CYCLE);
        assertThat(second.lock("y").orElseThrow().flags()).containsExactly(Flag.CYCLE);

        run(7);
        assertThat(watch.look().cycles()).hasSize(1);
        assertThat(logged)
                .singleElement()
                .asString()
                .startsWith("Deadlock: ")
                .contains("holds x and waits for y", "holds y and waits for x");

        // Broken: the store says so before any card does.
        a.forceRelease("x");
        run(0);
        assertThat(watch.look().cycles()).isEmpty();
        run(7);
        assertThat(watch.look().suspectedCycles()).isEmpty();
    }

    /** The leases may be released by any thread, so the clients may go on by themselves. */
    @Test
    void clientsThatWaitForEachOtherWithOtherThreadsAreNoDeadlock() {
        kept.add(a.tryAcquire("x").orElseThrow());
        kept.add(b.tryAcquire("y").orElseThrow());
        kept.add(a.acquireAsync("y"));
        kept.add(b.acquireAsync("x"));
        run(8);
        for (int look = 0; look < 3; look++) {
            LockPicture picture = watch.look();
            assertThat(picture.cycles()).isEmpty();
            assertThat(picture.suspectedCycles()).isEmpty();
            assertThat(picture.possibleCycles()).hasSize(1);
            assertThat(picture.lock("x").orElseThrow().flags()).isEmpty();
            run(7);
        }
        assertThat(logged).isEmpty();
    }

    @Test
    void aWaitThatBeganAnewIsAnotherOne() {
        Thread ofA = deadlock();
        run(8);
        assertThat(watch.look().suspectedCycles()).hasSize(1);
        ofA.interrupt();
        until(() -> a.localLocks().size() == 1);
        run(3);
        turns.release();
        awaitWait(a, "y");
        run(6);
        LockPicture second = watch.look();
        assertThat(second.cycles()).isEmpty();
        assertThat(second.suspectedCycles()).hasSize(1);
        run(7);
        assertThat(watch.look().cycles()).hasSize(1);
    }

    @Test
    void holdersAndWaitersByUrgency() {
        kept.add(a.tryAcquire("idle").orElseThrow());
        kept.add(a.tryAcquire("short").orElseThrow());
        kept.add(a.tryAcquire("long").orElseThrow());
        kept.add(b.acquireAsync("long"));
        run(10);
        kept.add(b.acquireAsync("short"));
        run(8);
        LockPicture picture = watch.look();
        assertThat(picture.locks()).extracting(LockRow::name).containsExactly("long", "short", "idle");
        assertThat(picture.clients()).hasSize(2);
        assertThat(picture.unnamedLocks()).isZero();
    }

    /** Each client waits for permits of which both have some. The first release lets the other client go on. */
    @Test
    void waitersForPermitsAreInNoCycle() {
        for (LockClient client : List.of(a, b)) {
            kept.add(client.permits("x", 2).tryAcquire().orElseThrow());
            kept.add(client.tryAcquire(client.id()).orElseThrow());
        }
        kept.add(a.permits("x", 2).acquireAsync());
        kept.add(b.permits("x", 2).acquireAsync());
        kept.add(a.acquireAsync(b.id()));
        for (int look = 0; look < 3; look++) {
            run(8);
            LockPicture picture = watch.look(List.of("permits:x"));
            assertThat(picture.cycles()).isEmpty();
            assertThat(picture.suspectedCycles()).isEmpty();
            assertThat(picture.possibleCycles()).isEmpty();
            assertThat(picture.locks()).extracting(LockRow::name).containsOnlyOnce("permits:x");
            LockRow row = picture.lock("permits:x").orElseThrow();
            assertThat(row.permits().orElseThrow().count()).isEqualTo("2/2");
            assertThat(row.waiters()).isEqualTo(2);
        }
    }

    /** A writer waits for a reader, whose thread waits for a lock of the writer's. */
    @Test
    void aDeadlockThroughAReaderIsFound() {
        Thread ofA = thread(a.getReadWriteLock("x").readLock(), a.getLock("y"));
        Thread ofB = thread(b.getLock("y"), b.getReadWriteLock("x").writeLock());
        ofA.start();
        until(() -> !a.localLocks().isEmpty());
        run(1);
        kept.add(a.acquireReadAsync("x")); // a younger reader
        ofB.start();
        until(() -> !b.localLocks().isEmpty());
        turns.release(2);
        awaitWait(a, "y");
        awaitWait(b, "write:x");
        run(8);
        assertThat(watch.look().cycles()).isEmpty();
        run(8);
        LockPicture picture = watch.look();
        assertThat(picture.cycles()).hasSize(1);
        assertThat(picture.cycles().get(0).contains("read-write:x")).isTrue();
        assertThat(picture.lock("read-write:x").orElseThrow().flags()).containsExactly(Flag.CYCLE);
        assertThat(logged).hasSize(1).first().asString().contains("holds read-write:x and waits for y");
    }

    /** Each client writes to what the other one reads, by other threads: the readers end by themselves. */
    @Test
    void waitersForBusyReadersAreInNoCycle() {
        for (LockClient client : List.of(a, b)) {
            kept.add(client.tryAcquireRead(client.id()).orElseThrow());
        }
        kept.add(a.acquireWriteAsync(b.id()));
        kept.add(b.acquireWriteAsync(a.id()));
        for (int look = 0; look < 3; look++) {
            run(8);
            LockPicture picture = watch.look();
            assertThat(picture.cycles()).isEmpty();
            assertThat(picture.suspectedCycles()).isEmpty();
            assertThat(picture.possibleCycles()).isEmpty();
            LockRow row = picture.lock("read-write:" + a.id()).orElseThrow();
            assertThat(row.holderTitle().orElseThrow()).startsWith("read a@");
            assertThat(row.waiters()).isEqualTo(1);
        }
    }

    /** Two threads wait for each other. Returns the one of the first client, whose interrupt ends its wait. */
    private Thread deadlock() {
        Thread ofA = thread(a, "x", "y");
        Thread ofB = thread(b, "y", "x");
        ofA.start();
        until(() -> !a.localLocks().isEmpty());
        ofB.start();
        until(() -> !b.localLocks().isEmpty());
        turns.release(2);
        awaitWait(a, "y");
        awaitWait(b, "x");
        return ofA;
    }

    /** Makes a thread that holds a lock and waits for another one, and waits anew when it is interrupted. */
    private Thread thread(LockClient client, String holds, String waits) {
        return thread(client.getLock(holds), client.getLock(waits));
    }

    private Thread thread(DistributedLock holds, DistributedLock waits) {
        Thread thread = new Thread(() -> {
            assertThat(holds.tryLock()).isTrue();
            while (true) {
                try {
                    turns.acquire();
                    waits.lockInterruptibly();
                } catch (InterruptedException e) {
                    // the next turn
                } catch (LockException e) {
                    return; // the client is closed
                }
            }
        });
        thread.setDaemon(true);
        return thread;
    }

    private static void awaitWait(LockClient client, String name) {
        until(() -> client.localLocks().stream().anyMatch(lock -> lock.name().equals(name) && lock.waiting() == 1));
    }

    private static void until(BooleanSupplier condition) {
        while (!condition.getAsBoolean()) {
            LockSupport.parkNanos(1_000_000);
        }
    }

    private LockClient client(String name, CardDetail cards) {
        LockClient client = LockClient.builder()
                .store(server::connect)
                .timeSource(time)
                .callbackExecutor(Runnable::run)
                .clientName(name)
                .cards(cards)
                .build();
        clients.add(client);
        return client;
    }

    private void run(int seconds) {
        time.advance(ofSeconds(seconds));
    }
}
