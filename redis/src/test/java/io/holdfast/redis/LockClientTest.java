package io.holdfast.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.holdfast.DistributedLock;
import io.holdfast.Lease;
import io.holdfast.LeaseLostException;
import io.holdfast.LockClient;
import io.holdfast.LockOptions;
import io.holdfast.LockStoreException;
import io.holdfast.MultiLease;
import io.holdfast.testkit.HistoryRecorder;
import io.holdfast.testkit.OverlapDetector;
import io.holdfast.testkit.servers.RedisServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The whole path: API, engine, store, a real server, and what happens to it. */
@Timeout(60)
class LockClientTest {

    private static final Duration LEASE = Duration.ofSeconds(4);

    private RedisServer server;
    private LockClient one;
    private LockClient two;

    @BeforeEach
    void open() {
        server = RedisServer.start();
        one = client();
        two = client();
    }

    @AfterEach
    void close() {
        one.close();
        two.close();
        server.close();
    }

    private LockClient client() {
        return client(LEASE, Duration.ofSeconds(5));
    }

    private LockClient client(Duration lease, Duration storeTimeout) {
        return LockClient.builder()
                .uri(server.uri() + "?timeout=3s&namePrefix=")
                .leaseTime(lease)
                .storeTimeout(storeTimeout)
                .build();
    }

    /** Renews nothing while commands are counted. */
    private LockClient clientThatRenewsSeldom() {
        return client(Duration.ofSeconds(30), Duration.ofSeconds(5));
    }

    @Test
    void a_pair_costs_two_commands_a_nested_pair_and_a_local_hand_off_none() throws Exception {
        try (LockClient client = clientThatRenewsSeldom()) {
            DistributedLock lock = client.getLock("counted");
            assertThat(scriptsRunBy(() -> {
                        lock.lock();
                        lock.unlock();
                    }))
                    .isEqualTo(2);
            lock.lock();
            assertThat(scriptsRunBy(() -> {
                        for (int i = 0; i < 100; i++) {
                            lock.lock();
                            lock.unlock();
                        }
                    }))
                    .isZero();
            lock.unlock();

            long began = System.nanoTime();
            long scripts = scriptsRunBy(() -> {
                List<CompletableFuture<Lease>> waiting = new ArrayList<>();
                for (int i = 0; i < 100; i++) {
                    waiting.add(client.acquireAsync("counted").toCompletableFuture());
                }
                for (CompletableFuture<Lease> next : waiting) {
                    next.get(10, TimeUnit.SECONDS).release();
                }
            });
            // Who passes the lock on looks every 100 ms whether another client waits.
            long looks = (System.nanoTime() - began) / 100_000_000;
            assertThat(scripts).isBetween(2L, 2 + looks);
        }
    }

    @Test
    void several_names_together_cost_one_command_to_take_and_one_each_to_release() throws Exception {
        List<String> names = List.of("t1", "t2", "t3", "t4", "t5");
        try (LockClient client = clientThatRenewsSeldom()) {
            assertThat(scriptsRunBy(() -> {
                        try (MultiLease all = client.acquireAll(names, LockOptions.defaults())) {
                            assertThat(all.isValid()).isTrue();
                        }
                    }))
                    .isEqualTo(1 + 5);
            MultiLease all = client.acquireAll(names, LockOptions.defaults());
            assertThat(scriptsRunBy(() -> assertThat(two.tryAcquireAll(List.of("t0", "t5"), LockOptions.defaults()))
                            .isEmpty()))
                    .isEqualTo(1);
            two.tryAcquire("t0").orElseThrow().release();
            assertThat(all.isValid()).isTrue();
            all.release();
        }
    }

    /** Groups that share names, in and out by one command or in turn: no overlap, and no client waits forever. */
    @Test
    void groups_of_two_clients_never_overlap() throws Exception {
        List<OverlapDetector> detectors =
                List.of(new OverlapDetector("g0"), new OverlapDetector("g1"), new OverlapDetector("g2"));
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < 6; i++) {
            LockClient client = i % 2 == 0 ? one : two;
            int left = i % 3;
            int right = (i + 1) % 3;
            threads.add(new Thread(() -> {
                for (int round = 0; round < 50; round++) {
                    try (MultiLease all = client.acquireAll(List.of("g" + left, "g" + right), LockOptions.defaults())) {
                        for (int lock : new int[] {left, right}) {
                            detectors.get(lock).enter(all.lease("g" + lock).fencingToken());
                        }
                        detectors.get(left).leave();
                        detectors.get(right).leave();
                    } catch (InterruptedException e) {
                        throw new IllegalStateException(e);
                    }
                }
            }));
        }
        threads.forEach(Thread::start);
        for (Thread thread : threads) {
            thread.join();
        }
        for (OverlapDetector detector : detectors) {
            detector.assertClean();
            assertThat(detector.entries()).isEqualTo(200);
        }
    }

    @Test
    void two_clients_with_many_threads_never_overlap_and_tokens_grow() throws Exception {
        OverlapDetector detector = new OverlapDetector("contended");
        HistoryRecorder recorder = new HistoryRecorder();
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < 8; i++) {
            DistributedLock lock = (i % 2 == 0 ? one : two).getLock("contended");
            threads.add(new Thread(() -> {
                for (int round = 0; round < 250; round++) {
                    HistoryRecorder.Use use = recorder.askAsThread("contended", null);
                    lock.lock();
                    try {
                        use.granted(lock);
                        detector.enter(lock.fencingToken());
                        detector.leave();
                    } finally {
                        use.unlock(lock, true);
                    }
                }
            }));
        }
        threads.forEach(Thread::start);
        for (Thread thread : threads) {
            thread.join();
        }

        recorder.assertInOrder(LEASE);
        assertThat(detector.violations()).isEmpty();
        assertThat(detector.entries()).isEqualTo(2_000);
    }

    @Test
    void a_waiter_at_another_client_is_woken_long_before_the_lease_ends() throws Exception {
        long fastestMillis = Long.MAX_VALUE;
        // A machine that stands still for a moment can make a single one as late as a poll.
        for (int i = 0; i < 10 && fastestMillis > 500; i++) {
            Lease held = one.acquire("handed");
            CompletableFuture<Lease> waiting = two.acquireAsync("handed").toCompletableFuture();
            await().until(() -> one.inspect("handed").waitingClients() == 1);
            long began = System.nanoTime();
            held.release();
            Lease next = waiting.get(10, TimeUnit.SECONDS);
            fastestMillis = Math.min(fastestMillis, (System.nanoTime() - began) / 1_000_000);
            assertThat(next.fencingToken()).isGreaterThan(held.fencingToken());
            next.release();
        }
        assertThat(fastestMillis).isLessThanOrEqualTo(500);
    }

    @Test
    void is_renewed_past_its_length() throws Exception {
        try (Lease held = one.acquire("long")) {
            Thread.sleep(LEASE.plusSeconds(1).toMillis());
            assertThat(held.isValid()).isTrue();
            assertThat(two.tryAcquire("long")).isEmpty();
        }
    }

    @Test
    void a_deleted_key_is_a_lost_lease() throws Exception {
        Lease held = one.acquire("deleted");
        CompletableFuture<Void> lost = new CompletableFuture<>();
        held.onLost(() -> lost.complete(null));
        server.command("DEL", "deleted");

        lost.get(LEASE.toMillis(), TimeUnit.MILLISECONDS);
        assertThatThrownBy(held::release).isInstanceOf(LeaseLostException.class);
    }

    @Test
    void a_server_that_stops_answering_costs_the_lease_at_its_deadline_and_waiters_get_an_error() throws Exception {
        try (LockClient impatient = client(LEASE, Duration.ofSeconds(1))) {
            Lease held = one.acquire("hung");
            CompletableFuture<Long> lostAt = new CompletableFuture<>();
            held.onLost(() -> lostAt.complete(System.nanoTime()));
            server.pause();
            // No renewal is confirmed any more.
            long paused = System.nanoTime();
            try {
                LockOptions patient = LockOptions.defaults().waitAtMost(Duration.ofSeconds(20));
                assertThatThrownBy(() -> impatient.tryAcquire("hung", patient))
                        .isInstanceOf(LockStoreException.class)
                        .hasMessageContaining(Integer.toString(server.port()));
                long lostAfterMillis = (lostAt.get(20, TimeUnit.SECONDS) - paused) / 1_000_000;
                assertThat(lostAfterMillis)
                        .isLessThanOrEqualTo(LEASE.plusSeconds(3).toMillis());
                assertThat(held.isValid()).isFalse();
            } finally {
                server.resume();
            }
            await().atMost(Duration.ofSeconds(20))
                    .ignoreExceptions()
                    .until(() -> impatient.tryAcquire("hung").isPresent());
        }
    }

    @Test
    @Tag("deep") // quick: ServerFaultsTest
    void a_pause_of_the_server_shorter_than_the_lease_costs_nothing() throws Exception {
        try (Lease held = one.acquire("paused")) {
            CompletableFuture<Lease> waiting = two.acquireAsync("paused").toCompletableFuture();
            server.pause();
            Thread.sleep(1_000);
            server.resume();
            Thread.sleep(LEASE.toMillis());
            assertThat(held.isValid()).isTrue();
            held.release();
            waiting.get(10, TimeUnit.SECONDS).release();
        }
    }

    @Test
    void a_server_that_restarts_empty_is_a_loss_for_the_holder_and_tokens_still_grow() throws Exception {
        Lease held = one.acquire("forgotten");
        server.kill();
        server.restart();
        await().atMost(Duration.ofSeconds(10)).until(() -> !held.isValid());
        Lease next = two.tryAcquire("forgotten", LockOptions.defaults().waitAtMost(Duration.ofSeconds(10)))
                .orElseThrow();

        assertThat(next.fencingToken()).isGreaterThan(held.fencingToken());
        next.release();
    }

    @Test
    void waiters_survive_cut_connections_and_are_served() throws Exception {
        Lease held = one.acquire("cut");
        CompletableFuture<Lease> waiting = two.acquireAsync("cut").toCompletableFuture();
        await().until(() -> one.inspect("cut").waitingClients() == 1);
        server.command("CLIENT", "KILL", "TYPE", "pubsub");
        server.command("CLIENT", "KILL", "TYPE", "normal");
        await().atMost(Duration.ofSeconds(10))
                .ignoreExceptions()
                .until(() -> one.inspect("cut").isLocked());
        held.release();

        assertThat(waiting.get(10, TimeUnit.SECONDS).isValid()).isTrue();
    }

    @Test
    void closing_releases_what_is_held() throws Exception {
        var unused = one.acquire("closed");
        one.close();

        assertThat(two.tryAcquire("closed")).isPresent();
    }

    @Test
    void a_key_of_another_type_is_an_error_that_names_it() {
        server.command("RPUSH", "list", "x");

        assertThatThrownBy(() -> one.tryAcquire("list"))
                .isInstanceOf(LockStoreException.class)
                .hasMessageContaining("list");
    }

    @Test
    @SuppressWarnings("CheckReturnValue") // each throws
    void a_key_without_expiry_is_reported_and_not_waited_for_without_bound() throws Exception {
        server.command("SET", "immortal", "x");

        List<Work> ways = List.of(
                () -> one.tryAcquire("immortal"),
                () -> one.acquire("immortal"),
                () -> one.getLock("immortal").tryLock(),
                () -> one.getLock("immortal").tryLock(500, TimeUnit.MILLISECONDS),
                () -> one.getLock("immortal").lock(),
                () -> one.tryAcquireAll(List.of("immortal"), LockOptions.defaults()),
                () -> one.tryAcquireAll(List.of("free", "immortal"), LockOptions.defaults()));
        for (int i = 0; i < ways.size(); i++) {
            Work way = ways.get(i);
            assertThatThrownBy(way::run)
                    .as("way %d", i)
                    .isInstanceOf(LockStoreException.class)
                    .hasMessageContaining("without expiry");
        }
        // The release of the unused hold is under way.
        assertThat(two.tryAcquire("free", LockOptions.defaults().waitAtMost(Duration.ofSeconds(10))))
                .isPresent();
    }

    private interface Work {
        void run() throws Exception;
    }

    private long scriptsRunBy(Work work) throws Exception {
        long before = scripts();
        work.run();
        return scripts() - before;
    }

    private long scripts() {
        Map<String, Long> counts = server.commandCounts();
        return counts.getOrDefault("evalsha", 0L) + counts.getOrDefault("eval", 0L);
    }
}
