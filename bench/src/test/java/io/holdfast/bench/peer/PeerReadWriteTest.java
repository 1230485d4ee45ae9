package io.holdfast.bench.peer;

import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.DistributedReadWriteLock;
import io.holdfast.LockClient;
import io.holdfast.testkit.servers.RedisServer;
import io.holdfast.testkit.servers.ZooKeeperEnsemble;
import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.locks.Lock;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.recipes.locks.InterProcessReadWriteLock;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.redisson.Redisson;
import org.redisson.api.RReadWriteLock;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

/** What becomes of a writer among readers, and of a writer that goes on as a reader: Holdfast, Redisson and Curator. */
@Timeout(120)
@Tag("deep") // quick: PeersTest, and ReadWriteTest of core
class PeerReadWriteTest {

    private static final Duration LEASE = Duration.ofSeconds(2);

    /** How long the writer waits. */
    private static final int WAIT_SECONDS = 3;

    /** How long readers go on at most: no run decides by this time. */
    private static final Duration PATIENCE = Duration.ofSeconds(60);

    private static RedisServer server;
    private static ZooKeeperEnsemble ensemble;
    private static LockClient holdfast;
    private static LockClient other;
    private static RedissonClient redisson;
    private static RedissonClient otherRedisson;
    private static CuratorFramework curator;
    private static CuratorFramework otherCurator;

    /** The writer's threads; locks of Redisson and Curator belong to one. */
    private final ExecutorService writer = Executors.newSingleThreadExecutor();

    @BeforeAll
    static void open() {
        server = RedisServer.start();
        ensemble = ZooKeeperEnsemble.start(1);
        holdfast = holdfast();
        other = holdfast();
        redisson = redisson();
        otherRedisson = redisson();
        curator = CuratorHandle.connect(ensemble.uri());
        otherCurator = CuratorHandle.connect(ensemble.uri());
    }

    private static LockClient holdfast() {
        return LockClient.builder().uri(server.uri()).leaseTime(LEASE).build();
    }

    private static RedissonClient redisson() {
        Config config = new Config();
        config.setLockWatchdogTimeout(LEASE.toMillis());
        config.useSingleServer().setAddress(server.uri());
        return Redisson.create(config);
    }

    @AfterAll
    static void close() {
        holdfast.close();
        other.close();
        redisson.shutdown();
        otherRedisson.shutdown();
        curator.close();
        otherCurator.close();
        ensemble.close();
        server.close();
    }

    @AfterEach
    void forget() {
        writer.shutdownNow();
        server.command("FLUSHALL");
    }

    // --- readers that follow each other, and a writer that waits ---

    @Test
    void aWriterOfHoldfastStopsNewReaders() throws Exception {
        DistributedReadWriteLock read = holdfast.getReadWriteLock("busy");
        Lock write = other.getReadWriteLock("busy").writeLock();
        assertThat(comesInAmongReaders(
                        () -> read.readLock().tryLock(),
                        () -> read.readLock().unlock(),
                        () -> write.tryLock(WAIT_SECONDS, SECONDS)))
                .isTrue();
    }

    @Test
    void aWriterOfRedissonStarves() throws Exception {
        RReadWriteLock read = redisson.getReadWriteLock("busy");
        RReadWriteLock write = otherRedisson.getReadWriteLock("busy");
        assertThat(comesInAmongReaders(
                        () -> read.readLock().tryLock(),
                        () -> read.readLock().unlock(),
                        () -> write.writeLock().tryLock(WAIT_SECONDS, SECONDS)))
                .isFalse();
    }

    @Test
    void aWriterOfCuratorStopsNewReaders() throws Exception {
        InterProcessReadWriteLock read = new InterProcessReadWriteLock(curator, "/busy");
        InterProcessReadWriteLock write = new InterProcessReadWriteLock(otherCurator, "/busy");
        assertThat(comesInAmongReaders(
                        () -> read.readLock().acquire(0, MILLISECONDS),
                        () -> read.readLock().release(),
                        () -> write.writeLock().acquire(WAIT_SECONDS, SECONDS)))
                .isTrue();
    }

    /** Something that may fail. */
    @FunctionalInterface
    private interface Step {
        void run() throws Exception;
    }

    /**
     * Lets two threads read in turns, so that each comes in before the other leaves, until one is refused or the writer
     * has its answer. A reader that is refused ends the reading.
     */
    private boolean comesInAmongReaders(Callable<Boolean> read, Step unlock, Callable<Boolean> write) throws Exception {
        ExecutorService[] readers = {Executors.newSingleThreadExecutor(), Executors.newSingleThreadExecutor()};
        try {
            assertThat(readers[0].submit(read).get(30, SECONDS)).isTrue();
            Future<Boolean> written = writer.submit(write);
            long began = System.nanoTime();
            int reading = 0;
            while (!written.isDone() && System.nanoTime() - began < PATIENCE.toNanos()) {
                boolean entered = readers[1 - reading].submit(read).get(30, SECONDS);
                leave(readers[reading], unlock);
                if (!entered) {
                    return written.get(30, SECONDS);
                }
                reading = 1 - reading;
            }
            boolean answer = written.get(30, SECONDS);
            leave(readers[reading], unlock);
            return answer;
        } finally {
            readers[0].shutdown();
            readers[1].shutdown();
        }
    }

    private static void leave(ExecutorService reader, Step unlock) throws Exception {
        reader.submit(() -> {
                    unlock.run();
                    return true;
                })
                .get(30, SECONDS);
    }

    // --- a writer that goes on as a reader ---

    @Test
    void noSecondWriterOfHoldfastComesIntoADowngrade() throws Exception {
        DistributedReadWriteLock own = holdfast.getReadWriteLock("down");
        own.writeLock().lock();
        Future<Boolean> second = writer.submit(() -> otherWriter(3 * LEASE.toMillis()));
        awaitQueue(1);
        own.readLock().lock();
        own.writeLock().unlock();
        // Three leases: the read hold is renewed.
        assertThat(second.get(60, SECONDS)).isFalse();
        own.readLock().unlock();
        assertThat(otherWriter(30_000)).isTrue();
    }

    private static boolean otherWriter(long millis) throws InterruptedException {
        return other.getReadWriteLock("down").writeLock().tryLock(millis, MILLISECONDS);
    }

    private static void awaitQueue(int waiters) throws InterruptedException {
        long began = System.nanoTime();
        while (holdfast.getReadWriteLock("down").inspect().waiting() < waiters) {
            assertThat(System.nanoTime() - began).isLessThan(PATIENCE.toNanos());
            Thread.sleep(10);
        }
    }

    @Test
    void noSecondWriterOfRedissonComesIntoADowngrade() throws Exception {
        RReadWriteLock own = redisson.getReadWriteLock("down");
        RReadWriteLock second = otherRedisson.getReadWriteLock("down");
        own.writeLock().lock();
        own.readLock().lock();
        own.writeLock().unlock();
        assertThat(writer.submit(() -> second.writeLock().tryLock(3 * LEASE.toMillis(), MILLISECONDS))
                        .get(60, SECONDS))
                .isFalse();
        own.readLock().unlock();
    }

    /** The second writer waits since before the downgrade. Curator 5.9 has repaired what let it in (CURATOR-276, -621). */
    @Test
    void noSecondWriterOfCuratorComesIntoADowngrade() throws Exception {
        InterProcessReadWriteLock own = new InterProcessReadWriteLock(curator, "/down");
        InterProcessReadWriteLock second = new InterProcessReadWriteLock(otherCurator, "/down");
        own.writeLock().acquire();
        Future<Boolean> entered = writer.submit(() -> second.writeLock().acquire(WAIT_SECONDS, SECONDS));
        long began = System.nanoTime();
        while (own.writeLock().getParticipantNodes().size() < 2) {
            assertThat(System.nanoTime() - began).isLessThan(PATIENCE.toNanos());
            Thread.sleep(10);
        }
        own.readLock().acquire();
        own.writeLock().release();
        assertThat(entered.get(60, SECONDS)).isFalse();
        own.readLock().release();
    }

    // --- what a reader and a writer that come in again do ---

    @Test
    void onlyHoldfastRefusesAReaderThatWantsToWrite() throws Exception {
        DistributedReadWriteLock own = holdfast.getReadWriteLock("up");
        own.readLock().lock();
        assertThatThrownBy(own.writeLock()::lock).isInstanceOf(IllegalStateException.class);
        own.readLock().unlock();

        // The others wait, each for itself; without a time, for ever.
        RReadWriteLock ofRedisson = redisson.getReadWriteLock("up-redisson");
        ofRedisson.readLock().lock();
        assertThat(ofRedisson.writeLock().tryLock(1, SECONDS)).isFalse();
        ofRedisson.readLock().unlock();
        InterProcessReadWriteLock ofCurator = new InterProcessReadWriteLock(curator, "/up");
        ofCurator.readLock().acquire();
        assertThat(ofCurator.writeLock().acquire(1, SECONDS)).isFalse();
        ofCurator.readLock().release();
    }

    /** Each re-entry adds a lease to the rest of the last one: the lock of a dead writer lasts for all of them. */
    @Test
    void eachReentryOfAWriterOfRedissonLengthensItsHold() {
        RReadWriteLock lock = redisson.getReadWriteLock("again");
        for (int i = 0; i < 5; i++) {
            lock.writeLock().lock(20, SECONDS);
        }
        assertThat((Long) server.command("PTTL", "again")).isGreaterThan(60_000);
        for (int i = 0; i < 5; i++) {
            lock.writeLock().unlock();
        }
    }
}
