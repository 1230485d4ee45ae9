package io.holdfast.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.holdfast.Lease;
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
import java.util.concurrent.locks.Lock;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.redisson.Redisson;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

/**
 * Two clients of each library, at one name: a client that waits behind another Holdfast client is served soon after
 * Redisson, and neither library starves the other. {@code -Dholdfast.mixed.seconds=10} measures for longer than a test
 * needs; the shares are printed.
 */
@Tag("deep")
@Timeout(180)
class MixedFleetTest {

    private static final long SECONDS = Long.getLong("holdfast.mixed.seconds", 3);

    private static final int THREADS = 4;

    private static RedisServer server;

    private final List<LockClient> ours = new ArrayList<>();
    private final List<RedissonClient> theirs = new ArrayList<>();

    @BeforeAll
    static void start() {
        server = RedisServer.start();
    }

    @AfterAll
    static void stop() {
        server.close();
    }

    @BeforeEach
    void open() {
        for (int i = 0; i < 2; i++) {
            ours.add(LockClient.connect(TestClient.byName(server.uri())));
            Config config = new Config();
            config.useSingleServer().setAddress(server.uri()).setConnectionMinimumIdleSize(2);
            theirs.add(Redisson.create(config));
        }
    }

    @AfterEach
    void close() {
        theirs.forEach(RedissonClient::shutdown);
        ours.forEach(LockClient::close);
    }

    @Test
    void one_that_waits_behind_another_client_hears_the_release_of_Redisson() throws Exception {
        long fastest = Long.MAX_VALUE;
        int rounds = 0;
        for (int i = 0; i < 60 && rounds < 8; i++) {
            long took = servedAfterRedisson("behind-" + i);
            if (took >= 0) {
                rounds++;
                fastest = Math.min(fastest, took);
                System.out.println("served after Redisson's release: " + took + " ms");
            }
        }

        assertThat(rounds).as("rounds in which Redisson was served first").isPositive();
        // Polls come after three quarters of a second or later. One wake-up can be late on a machine that stands still.
        assertThat(fastest).isLessThan(500);
    }

    /** Returns after how many ms our waiter was served; -1 if it was served before Redisson. */
    private long servedAfterRedisson(String name) throws Exception {
        Lease first = ours.get(0).acquire(name);
        CompletableFuture<Lease> behind = ours.get(1).acquireAsync(name).toCompletableFuture();
        await().until(() -> ours.get(0).inspect(name).waitingClients() == 1);
        CompletableFuture<Void> their = new CompletableFuture<>();
        CompletableFuture<Long> unlocked = new CompletableFuture<>();
        Thread thread = new Thread(() -> {
            RLock lock = theirs.get(0).getLock(name);
            lock.lock(30, TimeUnit.SECONDS);
            their.complete(null);
            sleep(50);
            unlocked.complete(System.nanoTime());
            lock.unlock();
        });
        thread.start();
        await().until(() -> listeners(name) > 0);
        first.release();
        CompletableFuture.anyOf(their, behind).get(20, TimeUnit.SECONDS);
        boolean theyWereFirst = their.isDone();
        Lease second = behind.get(20, TimeUnit.SECONDS);
        long served = System.nanoTime();
        second.release();
        thread.join();
        return theyWereFirst ? TimeUnit.NANOSECONDS.toMillis(served - unlocked.get(20, TimeUnit.SECONDS)) : -1;
    }

    @Test
    void neither_library_starves_the_other() throws Exception {
        List<String> table = new ArrayList<>();
        for (long sectionMillis : new long[] {0, 1, 5, 10}) {
            int[] shares = shares("shares-" + sectionMillis, sectionMillis);
            table.add(String.format(
                    "| %d ms | %d | %d | %.1f : 1 |",
                    sectionMillis,
                    shares[0],
                    shares[1],
                    1.0 * Math.max(shares[0], shares[1]) / Math.max(1, Math.min(shares[0], shares[1]))));
            if (sectionMillis == 0) {
                // A client of ours hands its hold on many times before its tenure ends, so these are not compared.
                assertThat(shares[0]).isPositive();
                assertThat(shares[1]).isPositive();
                continue;
            }
            assertThat(10L * shares[0]).as("Holdfast, of 10 x Redisson's").isGreaterThan(shares[1]);
            assertThat(10L * shares[1]).as("Redisson, of 10 x Holdfast's").isGreaterThan(shares[0]);
        }
        System.out.println(
                "In " + SECONDS + " s each:\n| section | Holdfast | Redisson | ratio |\n| --- | --- | --- | --- |\n"
                        + String.join("\n", table));
    }

    /** Returns the acquisitions of Holdfast and of Redisson. */
    private int[] shares(String name, long sectionMillis) throws Exception {
        OverlapDetector detector = new OverlapDetector(name);
        // Redisson's plain lock has no tokens.
        AtomicLong counter = new AtomicLong();
        AtomicInteger[] shares = {new AtomicInteger(), new AtomicInteger()};
        long end = System.nanoTime() + Duration.ofSeconds(SECONDS).toNanos();
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < 2 * THREADS; i++) {
            LockClient our = ours.get(i % 2);
            RedissonClient their = theirs.get(i % 2);
            threads.add(worker(() -> our.getLock(name), sectionMillis, end, detector, counter, shares[0]));
            threads.add(worker(() -> their.getLock(name), sectionMillis, end, detector, counter, shares[1]));
        }
        threads.forEach(Thread::start);
        for (Thread thread : threads) {
            thread.join();
        }
        assertThat(detector.violations()).isEmpty();
        return new int[] {shares[0].get(), shares[1].get()};
    }

    private static Thread worker(
            Supplier<Lock> locks,
            long sectionMillis,
            long end,
            OverlapDetector detector,
            AtomicLong counter,
            AtomicInteger share) {
        return new Thread(() -> {
            Lock lock = locks.get();
            while (System.nanoTime() < end) {
                lock.lock();
                try {
                    detector.enter(counter.incrementAndGet());
                    sleep(sectionMillis);
                    share.incrementAndGet();
                    detector.leave();
                } finally {
                    lock.unlock();
                }
            }
        });
    }

    private static void sleep(long millis) {
        try {
            Thread.sleep(millis);
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    private static long listeners(String name) {
        List<?> reply = (List<?>) server.command("PUBSUB", "NUMSUB", "redisson_lock__channel:{" + name + "}");
        return (Long) java.util.Objects.requireNonNull(reply).get(1);
    }
}
