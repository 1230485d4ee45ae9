package io.holdfast.bench.peer;

import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.Lease;
import io.holdfast.LockClient;
import io.holdfast.Permits;
import io.holdfast.testkit.servers.RedisServer;
import io.holdfast.testkit.servers.ZooKeeperEnsemble;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeoutException;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.framework.recipes.locks.InterProcessSemaphoreV2;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.redisson.Redisson;
import org.redisson.api.RSemaphore;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

/** What becomes of callers who want several permits at once: of Holdfast, Redisson and Curator. */
@Timeout(120)
@Tag("deep") // quick: PermitsTest of core
class PeerWeightsTest {

    private static final int WAIT_SECONDS = 3;

    private static RedisServer server;
    private static ZooKeeperEnsemble ensemble;
    private static LockClient holdfast;
    private static LockClient other;
    private static RedissonClient redisson;
    private static CuratorFramework curator;
    private static CuratorFramework otherCurator;

    private final ExecutorService callers = Executors.newFixedThreadPool(2);

    @BeforeAll
    static void open() {
        server = RedisServer.start();
        ensemble = ZooKeeperEnsemble.start(1);
        holdfast = LockClient.connect(server.uri());
        other = LockClient.connect(server.uri());
        Config config = new Config();
        config.useSingleServer().setAddress(server.uri());
        redisson = Redisson.create(config);
        curator = CuratorHandle.connect(ensemble.uri());
        otherCurator = CuratorHandle.connect(ensemble.uri());
    }

    @AfterAll
    static void close() {
        holdfast.close();
        other.close();
        redisson.shutdown();
        curator.close();
        otherCurator.close();
        ensemble.close();
        server.close();
    }

    @AfterEach
    void end() throws InterruptedException {
        callers.shutdownNow();
        assertThat(callers.awaitTermination(60, SECONDS)).isTrue();
    }

    // --- a caller that wants three of three, while others take one after the other ---

    @Test
    void aLargeRequestOfHoldfastIsServedInItsTurn() throws Exception {
        Permits one = holdfast.permits("busy", 3);
        Deque<Lease> taken = new ArrayDeque<>();
        assertThat(comesInAmongSingles(
                        () -> {
                            Optional<Lease> next = one.tryAcquire();
                            next.ifPresent(taken::add);
                            return next.isPresent();
                        },
                        () -> taken.remove().release(),
                        () -> other.permits("busy", 3).weight(3).tryRun(Duration.ofSeconds(WAIT_SECONDS), all -> {})))
                .isTrue();
    }

    @Test
    void aLargeRequestOfRedissonIsOvertaken() throws Exception {
        RSemaphore semaphore = redisson.getSemaphore("busy");
        semaphore.trySetPermits(3);
        assertThat(comesInAmongSingles(
                        semaphore::tryAcquire,
                        semaphore::release,
                        () -> semaphore.tryAcquire(3, Duration.ofSeconds(WAIT_SECONDS))))
                .isFalse();
    }

    /** Takes each next permit before it gives the last one back, until one is refused or the other has its answer. */
    private boolean comesInAmongSingles(Callable<Boolean> take, Runnable giveBack, Callable<Boolean> all)
            throws Exception {
        assertThat(take.call()).isTrue();
        Future<Boolean> large = callers.submit(all);
        boolean taken = true;
        while (taken && !large.isDone()) {
            MILLISECONDS.sleep(10);
            taken = take.call();
            giveBack.run();
        }
        if (taken) {
            giveBack.run();
        }
        return large.get();
    }

    // --- two callers that want three of four ---

    @Test
    void twoCallersOfHoldfastFollowEachOther() throws Exception {
        Future<Boolean> one = callers.submit(
                () -> holdfast.permits("three", 4).weight(3).tryRun(Duration.ofSeconds(40), permits -> pause()));
        Future<Boolean> two = callers.submit(
                () -> other.permits("three", 4).weight(3).tryRun(Duration.ofSeconds(40), permits -> pause()));
        assertThat(one.get()).isTrue();
        assertThat(two.get()).isTrue();
    }

    private static void pause() {
        try {
            MILLISECONDS.sleep(100);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Each takes two of the four, one by one in turns, and waits for a third. */
    @Test
    void twoCallersOfCuratorWaitForEachOther() throws Exception {
        InterProcessMutex turns = new InterProcessMutex(curator, "/three/locks");
        turns.acquire();
        Future<?> one = callers.submit(() -> new InterProcessSemaphoreV2(curator, "/three", 4).acquire(3));
        Future<?> two = callers.submit(() -> new InterProcessSemaphoreV2(otherCurator, "/three", 4).acquire(3));
        while (curator.getChildren().forPath("/three/locks").size() < 3) {
            MILLISECONDS.sleep(5);
        }
        turns.release();
        assertThatThrownBy(() -> one.get(WAIT_SECONDS, SECONDS)).isInstanceOf(TimeoutException.class);
        assertThat(two).isNotDone();
    }
}
