package io.holdfast.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.holdfast.DistributedLock;
import io.holdfast.Lease;
import io.holdfast.LeaseLostException;
import io.holdfast.LockClient;
import io.holdfast.testkit.OverlapDetector;
import io.holdfast.testkit.servers.RedisServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import java.util.function.Function;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.redisson.Redisson;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

/** A fleet that is half Redisson and half Holdfast, on the same names: what migrating one service at a time needs. */
@Timeout(60)
class RedissonInteropTest {

    private static RedisServer server;
    private static LockClient ours;
    private static RedissonClient theirs;

    @BeforeAll
    static void open() {
        server = RedisServer.start();
        ours = LockClient.connect(server.uri() + "?namePrefix=");
        Config config = new Config();
        config.useSingleServer().setAddress(server.uri()).setConnectionMinimumIdleSize(2);
        theirs = Redisson.create(config);
    }

    @AfterAll
    static void close() {
        theirs.shutdown();
        ours.close();
        server.close();
    }

    @Test
    void each_sees_the_others_lock() throws Exception {
        RLock their = theirs.getLock("seen");
        try (Lease held = ours.acquire("seen")) {
            assertThat(held.isValid()).isTrue();
            assertThat(their.tryLock()).isFalse();
            assertThat(their.isLocked()).isTrue();
        }
        assertThat(their.tryLock()).isTrue();
        assertThat(ours.tryAcquire("seen")).isEmpty();
        assertThat(ours.inspect("seen").holder()).isPresent();
        their.unlock();
        assertThat(ours.inspect("seen").isLocked()).isFalse();
    }

    @Test
    void our_release_wakes_their_waiter() throws Exception {
        Lease held = ours.acquire("wakes-theirs");
        CompletableFuture<Boolean> theirWait = CompletableFuture.supplyAsync(() -> {
            RLock lock = theirs.getLock("wakes-theirs");
            lock.lock(30, TimeUnit.SECONDS);
            lock.unlock();
            return true;
        });
        await().until(() -> listeners("wakes-theirs") > 0);
        held.release();

        assertThat(theirWait.get(20, TimeUnit.SECONDS)).isTrue();
    }

    @Test
    void their_release_wakes_our_waiter() throws Exception {
        Duration fastest = Duration.ofDays(1);
        // Not by the poll, which comes only after three quarters of a second or later. A single one can be as late as
        // that on a machine that stands still for a moment.
        for (int i = 0; i < 10 && fastest.toMillis() >= 700; i++) {
            String name = "wakes-ours-" + i;
            RLock their = theirs.getLock(name);
            their.lock(30, TimeUnit.SECONDS);
            CompletableFuture<Lease> waiting = ours.acquireAsync(name).toCompletableFuture();
            await().until(() -> listeners(name) > 0);
            long began = System.nanoTime();
            their.unlock();
            waiting.get(10, TimeUnit.SECONDS).release();
            Duration took = Duration.ofNanos(System.nanoTime() - began);
            fastest = took.compareTo(fastest) < 0 ? took : fastest;
        }

        assertThat(fastest).isLessThan(Duration.ofMillis(700));
    }

    @Test
    void their_forced_unlock_is_our_lost_lease() throws Exception {
        LockClient brief = LockClient.builder()
                .uri(server.uri() + "?namePrefix=")
                .leaseTime(Duration.ofSeconds(1))
                .build();
        try (brief) {
            Lease held = brief.acquire("forced");
            CompletableFuture<Void> lost = new CompletableFuture<>();
            held.onLost(() -> lost.complete(null));
            theirs.getLock("forced").forceUnlock();

            lost.get(10, TimeUnit.SECONDS);
            assertThatThrownBy(held::ensureValid).isInstanceOf(LeaseLostException.class);
        }
    }

    @Test
    void in_a_mixed_fleet_both_sides_make_progress_and_never_overlap() throws Exception {
        runMixed(ours, "mixed", () -> {}, RLock::lock);
    }

    /**
     * The short path of an acquire is then always taken. No release is announced to Redisson, which asks by itself, and
     * our threads must leave the lock free for that.
     */
    @Test
    @Tag("deep") // quick: the test above
    void without_messages_to_them_they_never_overlap_either() throws Exception {
        try (LockClient silent = LockClient.connect(server.uri() + "?namePrefix=&redissonChannels=none")) {
            runMixed(silent, "silent", () -> LockSupport.parkNanos(5_000_000), lock -> {
                while (!lock.tryLock()) {
                    LockSupport.parkNanos(200_000);
                }
            });
        }
    }

    /**
     * Redisson's fair lock excludes and is excluded. Its waiters listen on channels of their own, which our releases do
     * not know, and its queue is not ours: they ask when the lease that they saw has run out.
     */
    @Test
    @Tag("deep") // quick: in_a_mixed_fleet_both_sides_make_progress_and_never_overlap
    void their_fair_lock_never_overlaps_with_ours() throws Exception {
        try (LockClient brief = LockClient.builder()
                .uri(server.uri() + "?namePrefix=")
                .leaseTime(Duration.ofSeconds(1))
                .build()) {
            Counts counts =
                    runMixed(brief, "fair", theirs::getFairLock, () -> LockSupport.parkNanos(5_000_000), RLock::lock);
            assertThat(counts.our()).isGreaterThan(20);
            assertThat(counts.their()).isGreaterThan(0);
        }
    }

    private static void runMixed(LockClient ours, String name, Runnable pause, Consumer<RLock> lockTheirs)
            throws Exception {
        Counts counts = runMixed(ours, name, theirs::getLock, pause, lockTheirs);
        assertThat(counts.our()).isGreaterThan(20);
        assertThat(counts.their()).isGreaterThan(20);
    }

    private record Counts(int our, int their) {}

    private static Counts runMixed(
            LockClient ours,
            String name,
            Function<String, RLock> theirLocks,
            Runnable pause,
            Consumer<RLock> lockTheirs)
            throws Exception {
        OverlapDetector detector = new OverlapDetector(name);
        // Redisson's plain lock has no tokens.
        AtomicLong counter = new AtomicLong();
        AtomicInteger our = new AtomicInteger();
        AtomicInteger their = new AtomicInteger();
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(4);
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            DistributedLock ourLock = ours.getLock(name);
            threads.add(new Thread(() -> {
                while (System.nanoTime() < end) {
                    ourLock.lock();
                    detector.enter(counter.incrementAndGet());
                    our.incrementAndGet();
                    detector.leave();
                    ourLock.unlock();
                    pause.run();
                }
            }));
            RLock theirLock = theirLocks.apply(name);
            threads.add(new Thread(() -> {
                while (System.nanoTime() < end) {
                    lockTheirs.accept(theirLock);
                    detector.enter(counter.incrementAndGet());
                    their.incrementAndGet();
                    detector.leave();
                    theirLock.unlock();
                }
            }));
        }
        threads.forEach(Thread::start);
        for (Thread thread : threads) {
            thread.join();
        }

        System.out.println(name + " fleet in 4 s: Holdfast " + our + " acquisitions, Redisson " + their);
        assertThat(detector.violations()).isEmpty();
        return new Counts(our.get(), their.get());
    }

    private static long listeners(String name) {
        List<?> reply = (List<?>) server.command("PUBSUB", "NUMSUB", "redisson_lock__channel:{" + name + "}");
        return (Long) java.util.Objects.requireNonNull(reply).get(1);
    }
}
