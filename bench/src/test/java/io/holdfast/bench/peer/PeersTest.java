package io.holdfast.bench.peer;

import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.Lease;
import io.holdfast.LeaseLostException;
import io.holdfast.LockClient;
import io.holdfast.testkit.servers.RedisServer;
import java.time.Duration;
import java.util.ConcurrentModificationException;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.redisson.Redisson;
import org.redisson.api.RFencedLock;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.integration.redis.util.RedisLockRegistry;

/**
 * What README's comparison says about the behaviour of Holdfast and its peers, in the versions of {@code pom.xml}. A
 * test that fails after an upgrade of a peer asks for a change of that table.
 */
@Timeout(30)
class PeersTest {

    private static final Duration LEASE = Duration.ofMillis(600);

    private static RedisServer server;
    private static LockClient holdfast;
    private static RedissonClient redisson;
    private static RedissonClient otherRedisson;
    private static LettuceConnectionFactory connections;
    private static RedisLockRegistry spring;
    private static RedisLockRegistry otherSpring;
    private static Lock4jHandle lock4j;
    private static final ExecutorService THREADS = Executors.newCachedThreadPool();

    @BeforeAll
    static void open() {
        server = RedisServer.start();
        holdfast = LockClient.builder().uri(server.uri()).leaseTime(LEASE).build();
        redisson = redisson();
        otherRedisson = redisson();
        connections = new LettuceConnectionFactory(server.host(), server.port());
        connections.afterPropertiesSet();
        connections.start();
        spring = new RedisLockRegistry(connections, "registry", LEASE);
        otherSpring = new RedisLockRegistry(connections, "registry", Duration.ofSeconds(30));
        lock4j = new Lock4jHandle(server.uri(), LEASE);
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
        redisson.shutdown();
        otherRedisson.shutdown();
        spring.destroy();
        otherSpring.destroy();
        lock4j.close();
        connections.destroy();
        THREADS.shutdown();
        server.close();
    }

    @AfterEach
    void forget() {
        server.command("FLUSHALL");
    }

    @Test
    void holdfastTellsOfALossAtOnceAndAtTheRelease() throws Exception {
        CountDownLatch told = new CountDownLatch(1);
        Lease lease = holdfast.acquire("lost");
        lease.onLost(told::countDown);
        server.command("FLUSHALL");
        assertThat(told.await(20, SECONDS)).isTrue();
        assertThat(lease.isValid()).isFalse();
        assertThatThrownBy(lease::release).isInstanceOf(LeaseLostException.class);
    }

    @Test
    void thePeersTellOfALossAtTheUnlock() {
        RLock ofRedisson = redisson.getLock("lost");
        ofRedisson.lock();
        spring.obtain("lost").lock();
        lock4j.lock("lock4j-lost");
        server.command("FLUSHALL");
        assertThatThrownBy(ofRedisson::unlock).isInstanceOf(IllegalMonitorStateException.class);
        assertThatThrownBy(spring.obtain("lost")::unlock).isInstanceOf(ConcurrentModificationException.class);
        assertThatThrownBy(() -> lock4j.unlock("lock4j-lost")).hasMessageContaining("lock4j lost");
    }

    @Test
    void springDoesNotRenewUnlessItIsToldTo() throws Exception {
        Lease lease = holdfast.acquire("long");
        RLock ofRedisson = redisson.getLock("long");
        ofRedisson.lock();
        spring.obtain("long").lock();
        Thread.sleep(3 * LEASE.toMillis());
        assertThat(lease.isValid()).isTrue();
        assertThat(ofRedisson.isHeldByCurrentThread()).isTrue();
        assertThat(otherSpring.obtain("long").tryLock()).isTrue();
        lease.release();
        ofRedisson.unlock();
    }

    /** Two threads of one process wait for 700 ms each, one behind the other, for a lock that another process holds. */
    @Test
    void onlySpringWaitsForTwiceTheTime() throws Exception {
        long most = 700;
        otherRedisson.getLock("wait").lock();
        assertThat(otherSpring.obtain("wait").tryLock()).isTrue();
        try (LockClient other = LockClient.connect(server.uri());
                Lease held = other.acquire("wait")) {
            assertThat(held.isValid()).isTrue();
            assertThat(longerWait(() ->
                            holdfast.tryAcquire("wait", Duration.ofMillis(most)).isPresent()))
                    .isBetween(most, 2 * most - 150);
            assertThat(longerWait(() -> redisson.getLock("wait").tryLock(most, MILLISECONDS)))
                    .isBetween(most, 2 * most - 150);
            assertThat(longerWait(() -> spring.obtain("wait").tryLock(most, MILLISECONDS)))
                    .isGreaterThan(most + 300);
        }
    }

    /**
     * Returns the longer of two waits. The second begins a third of a wait later, so that the first has left the local
     * lock before the second gives up on it: Spring's first thread leaves up to a poll of 100 ms late.
     */
    private static long longerWait(Callable<Boolean> wait) throws Exception {
        Callable<Long> timed = () -> {
            long began = System.nanoTime();
            assertThat(wait.call()).isFalse();
            return (System.nanoTime() - began) / 1_000_000;
        };
        Future<Long> first = THREADS.submit(timed);
        Thread.sleep(250);
        Future<Long> second = THREADS.submit(timed);
        return Math.max(first.get(), second.get());
    }

    @Test
    void lock4jIsNotReentrant() {
        RLock ofRedisson = redisson.getLock("nested");
        ofRedisson.lock();
        assertThat(ofRedisson.tryLock()).isTrue();
        spring.obtain("nested").lock();
        assertThat(spring.obtain("nested").tryLock()).isTrue();
        holdfast.getLock("nested").lock();
        assertThat(holdfast.getLock("nested").tryLock()).isTrue();
        lock4j.lock("lock4j-nested");
        assertThat(lock4j.tryLock("lock4j-nested")).isFalse();
    }

    @Test
    void locksOfRedissonAndSpringBelongToAThread() throws Exception {
        Lease lease = holdfast.acquire("thread");
        CompletableFuture.runAsync(lease::release, THREADS).get(20, SECONDS);
        lock4j.lock("lock4j-thread");
        CompletableFuture.runAsync(() -> lock4j.unlock("lock4j-thread"), THREADS)
                .get(20, SECONDS);
        RLock ofRedisson = redisson.getLock("thread");
        ofRedisson.lock();
        assertThatThrownBy(() ->
                        CompletableFuture.runAsync(ofRedisson::unlock, THREADS).get(20, SECONDS))
                .hasCauseInstanceOf(IllegalMonitorStateException.class);
        spring.obtain("thread").lock();
        assertThatThrownBy(() -> CompletableFuture.runAsync(spring.obtain("thread")::unlock, THREADS)
                        .get(20, SECONDS))
                .hasCauseInstanceOf(IllegalStateException.class);
    }

    /** Redisson's token is asked for by name: after a loss it is the new owner's. */
    @Test
    void theTokenOfALostFencedLockOfRedissonIsTheNextOwners() throws Exception {
        RFencedLock first = redisson.getFencedLock("token");
        long old = first.lockAndGetToken();
        redisson.getKeys().delete("token");
        long next = otherRedisson.getFencedLock("token").lockAndGetToken();
        assertThat(next).isGreaterThan(old);
        assertThat(first.getToken()).isEqualTo(next);

        Lease lease = holdfast.acquire("token");
        long own = lease.fencingToken();
        server.command("DEL", "lock:token");
        try (LockClient other = LockClient.connect(server.uri());
                Lease following = other.acquire("token")) {
            assertThat(following.fencingToken()).isGreaterThan(own);
            assertThat(lease.fencingToken()).isEqualTo(own);
        }
    }
}
