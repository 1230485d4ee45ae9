package io.holdfast.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.holdfast.CardDetail;
import io.holdfast.Lease;
import io.holdfast.LeaseLostException;
import io.holdfast.LockClient;
import io.holdfast.LockOptions;
import io.holdfast.LockStoreException;
import io.holdfast.testkit.OverlapDetector;
import io.holdfast.testkit.faults.FaultProxy;
import io.holdfast.testkit.servers.ZooKeeperEnsemble;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.apache.zookeeper.ZooKeeper;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.Timeout;

/** Three servers, with faults of the servers and of the network. */
@Tag("deep")
@Timeout(240)
class EnsembleTest {

    private static final Duration PATIENCE = Duration.ofSeconds(60);

    /** A new session promises a quarter of its time, and a machine busy with other tests may stall for a second. */
    private static final int SESSION_MILLIS = 8_000;

    private static ZooKeeperEnsemble servers;
    private final List<LockClient> clients = new ArrayList<>();
    private String name = "";
    private OverlapDetector detector = new OverlapDetector("");

    @BeforeAll
    static void start() {
        servers = ZooKeeperEnsemble.start(3, "-Dznode.container.checkIntervalMs=500");
    }

    @AfterAll
    static void stop() {
        servers.close();
    }

    @BeforeEach
    void newName(TestInfo test) {
        name = test.getDisplayName();
        detector = new OverlapDetector(name);
        await().atMost(PATIENCE).until(() -> servers.leader().isPresent());
        servers.awaitServing();
    }

    @AfterEach
    void closeClients() {
        clients.forEach(LockClient::close);
    }

    @Test
    void a_killed_leader_gives_no_lock_twice_and_tokens_grow_over_the_election() {
        Work work = workOf(client(), client(), client());
        work.awaitMore(20);
        int leader = servers.leader().orElseThrow();
        servers.kill(leader);
        await().atMost(PATIENCE).until(() -> servers.leader().isPresent());
        work.awaitMore(20);
        servers.restart(leader);
        work.awaitMore(20);
        work.end();
    }

    @Test
    void a_killed_follower_stops_nobody_for_long() {
        Work work = workOf(client(), client(), client());
        work.awaitMore(20);
        int follower = (servers.leader().orElseThrow() + 1) % 3;
        servers.kill(follower);
        work.awaitMore(50);
        servers.restart(follower);
        work.awaitMore(20);
        work.end();
    }

    /**
     * The server's port accepts connections, but nobody answers. A client gives the server up after a third of the
     * session, which is more than a command may take. Which server comes first is chance, so the test repeats.
     */
    @Test
    void a_server_that_hangs_keeps_nobody_from_connecting() throws Exception {
        int follower = (servers.leader().orElseThrow() + 1) % 3;
        servers.pause(follower);
        try {
            List<CompletableFuture<LockClient>> opened = new ArrayList<>();
            for (int i = 0; i < 12; i++) {
                CompletableFuture<LockClient> client = new CompletableFuture<>();
                opened.add(client);
                new Thread(() -> {
                            try {
                                client.complete(LockClient.connect(servers.uri() + "?sessionTimeout=18s&timeout=4s"));
                            } catch (RuntimeException e) {
                                client.completeExceptionally(e);
                            }
                        })
                        .start();
            }
            for (CompletableFuture<LockClient> client : opened) {
                clients.add(client.get(40, TimeUnit.SECONDS));
            }
        } finally {
            servers.resume(follower);
        }
    }

    /** The majority decides: what a minority says is no lease. */
    @Test
    void without_a_majority_leases_end_in_time_and_nothing_is_granted_until_it_is_back() throws Exception {
        LockClient one = client();
        Lease lease = one.acquire(name);
        AtomicBoolean lost = new AtomicBoolean();
        lease.onLost(() -> lost.set(true));
        long token = lease.fencingToken();
        int leader = servers.leader().orElseThrow();
        int other = (leader + 1) % 3;
        servers.kill(leader);
        servers.kill(other);
        await().atMost(PATIENCE).untilTrue(lost);
        assertThat(lease.isValid()).isFalse();
        assertThatThrownBy(() -> one.tryAcquire(name)).isInstanceOf(LockStoreException.class);

        servers.restart(leader);
        servers.restart(other);
        await().atMost(PATIENCE).until(() -> servers.leader().isPresent());
        Lease next = awaitLease(client());
        assertThat(next.fencingToken()).isGreaterThan(token);
        next.release();
    }

    @Test
    void a_session_that_the_servers_end_is_a_loss_at_once_and_a_new_one_is_made() throws Exception {
        LockClient one = client();
        LockClient two = client();
        Lease lease = one.acquire(name);
        AtomicBoolean lost = new AtomicBoolean();
        lease.onLost(() -> lost.set(true));
        CompletableFuture<Lease> waiting = two.acquireAsync(name).toCompletableFuture();
        await().until(() -> two.inspect(name).waitingClients() == 1);

        closeSessionOf(lease);
        await().atMost(PATIENCE).untilTrue(lost);
        assertThatThrownBy(lease::release).isInstanceOf(LeaseLostException.class);
        Lease next = waiting.get(40, TimeUnit.SECONDS);
        assertThat(next.fencingToken()).isGreaterThan(lease.fencingToken());
        next.release();
        Lease again = awaitLease(one);
        assertThat(again.fencingToken()).isGreaterThan(next.fencingToken());
        again.release();
    }

    @Test
    void a_client_that_is_cut_off_loses_its_lease_before_another_gets_the_lock() throws Exception {
        try (FaultProxy proxy = FaultProxy.to("127.0.0.1", servers.port(0))) {
            LockClient cutOff = client("zookeeper://127.0.0.1:" + proxy.port());
            LockClient other = client();
            Lease lease = cutOff.acquire(name);
            detector.enter(lease.fencingToken());
            lease.onLost(detector::leave);
            CompletableFuture<Lease> waiting = other.acquireAsync(name).toCompletableFuture();
            await().until(() -> other.inspect(name).waitingClients() == 1);

            // Connections stay open and carry nothing, so TCP notices nothing.
            proxy.holdRequests(true);
            Lease next = waiting.get(30, TimeUnit.SECONDS);
            assertThat(lease.isValid()).isFalse();
            detector.enter(next.fencingToken());
            proxy.cutAll();
            proxy.holdRequests(false);
            detector.leave();
            next.release();
            awaitLease(cutOff).release();
        }
        detector.assertClean();
        assertThat(detector.entries()).isEqualTo(2);
    }

    /** The process is stopped: no thread of it runs, so only clocks can tell when it wakes up. */
    @Test
    void a_client_that_is_paused_past_its_session_finds_its_lease_over_at_the_first_look() throws Exception {
        try (PausedHolder holder = PausedHolder.start(uri(), name)) {
            long token = holder.awaitToken();
            LockClient other = client("?sessionTimeout=12s&timeout=5s");
            CompletableFuture<Lease> waiting = other.acquireAsync(name).toCompletableFuture();
            await().until(() -> other.inspect(name).waitingClients() == 1);
            holder.pause();
            Lease next = waiting.get(30, TimeUnit.SECONDS);
            assertThat(next.fencingToken()).isGreaterThan(token);
            holder.resume();
            assertThat(holder.ask()).isEqualTo("valid false, release lost");
            assertThat(next.isValid()).isTrue();
            next.release();
        }
    }

    @Test
    void a_lease_is_never_promised_for_longer_than_the_session() throws Exception {
        LockClient one = client("?sessionTimeout=12s&timeout=5s");
        Lease lease = one.acquire(name);
        Duration most = Duration.ofSeconds(8);
        for (int i = 0; i < 20; i++) {
            assertThat(lease.remaining()).isPositive().isLessThanOrEqualTo(most);
            Thread.sleep(150);
        }
        lease.release();
    }

    /** The lease is longer than the session, and only the session keeps it alive. */
    @Test
    void a_fixed_lease_outlasts_sessions_and_ends_in_time_at_the_store_too() throws Exception {
        LockClient one = client("?sessionTimeout=9s&timeout=5s");
        LockClient two = client("?sessionTimeout=9s&timeout=5s");
        LockOptions fixed = LockOptions.defaults().leaseFor(Duration.ofSeconds(12));
        long nearlyNanos = TimeUnit.MILLISECONDS.toNanos(11_500);
        long before = System.nanoTime();
        Lease lease = one.tryAcquire(name, fixed).orElseThrow();
        CompletableFuture<Lease> waiting = two.acquireAsync(name).toCompletableFuture();
        while (true) {
            boolean valid = lease.isValid();
            boolean passedOn = waiting.isDone();
            if (System.nanoTime() - before >= nearlyNanos) {
                break;
            }
            assertThat(valid).isTrue();
            assertThat(passedOn).isFalse();
            Thread.sleep(100);
        }
        Lease next = waiting.get(40, TimeUnit.SECONDS);
        assertThat(lease.isValid()).isFalse();
        assertThat(next.fencingToken()).isGreaterThan(lease.fencingToken());
        next.release();
    }

    @Test
    void a_holder_learns_of_a_forced_release_at_once() throws Exception {
        LockClient one = client("?sessionTimeout=60s");
        Lease lease = one.acquire(name);
        AtomicBoolean lost = new AtomicBoolean();
        lease.onLost(() -> lost.set(true));
        Thread.sleep(300);
        assertThat(client().forceRelease(name)).isTrue();
        // The next renewal is ten seconds and more away.
        await().atMost(Duration.ofSeconds(10)).untilTrue(lost);
    }

    @Test
    void names_leave_nothing_behind() throws Exception {
        // Without a card, which stays as long as its client.
        LockClient one = LockClient.builder()
                .uri(servers.uri() + "/tidy/here?sessionTimeout=3s")
                .cards(CardDetail.OFF)
                .build();
        clients.add(one);
        for (String odd : List.of("a/b", "a:b", "two words", "Größe", "🔒", "..")) {
            one.acquire(odd).release();
        }
        assertThat(one.inspect("a/b").isLocked()).isFalse();
        ZooKeeper look = new ZooKeeper(servers.servers(), 10_000, event -> {});
        try {
            await().atMost(PATIENCE).until(() -> look.exists("/tidy", false) == null);
        } finally {
            look.close();
        }
    }

    // --- what the tests share ---

    private static String uri() {
        return servers.uri() + "?sessionTimeout=" + SESSION_MILLIS + "ms&timeout=5s";
    }

    private LockClient client() {
        return client(uri());
    }

    /** @param uri of the store, or what follows the servers in it */
    private LockClient client(String uri) {
        String whole = uri.startsWith("zookeeper:") ? uri : servers.uri() + uri;
        LockClient client = LockClient.connect(
                whole.contains("?") ? whole : whole + "?sessionTimeout=" + SESSION_MILLIS + "ms&timeout=5s");
        clients.add(client);
        return client;
    }

    /** A client that was disconnected may still be connecting. */
    private Lease awaitLease(LockClient client) {
        return await().atMost(PATIENCE)
                .ignoreExceptionsInstanceOf(LockStoreException.class)
                .until(
                        () -> client.tryAcquire(name, LockOptions.defaults().waitAtMost(Duration.ofSeconds(20)))
                                .orElse(null),
                        lease -> lease != null);
    }

    /** Does what servers do when a session was silent for its timeout. */
    private static void closeSessionOf(Lease lease) throws Exception {
        ZooKeeper look = new ZooKeeper(servers.servers(), 10_000, event -> {});
        try {
            String folder = "/holdfast/" + NodeNames.encode(lease.name());
            await().ignoreExceptions()
                    .until(() -> !look.getChildren(folder, false).isEmpty());
            String node = look.getChildren(folder, false).stream()
                    .min((a, b) -> a.substring(a.lastIndexOf('~')).compareTo(b.substring(b.lastIndexOf('~'))))
                    .orElseThrow();
            long session = Long.parseUnsignedLong(node.split("~", -1)[1], 16);
            ServerSide.closeSession(servers, session);
        } finally {
            look.close();
        }
    }

    private Work workOf(LockClient... working) {
        return new Work(working);
    }

    /** Threads of several clients in one critical section, repeatedly, whatever happens to the servers. */
    private final class Work {
        private final AtomicBoolean over = new AtomicBoolean();
        private final AtomicInteger done = new AtomicInteger();
        private final List<Thread> threads = new ArrayList<>();

        Work(LockClient... working) {
            for (LockClient client : working) {
                for (int i = 0; i < 2; i++) {
                    Thread thread = new Thread(() -> run(client));
                    threads.add(thread);
                    thread.start();
                }
            }
        }

        private void run(LockClient client) {
            while (!over.get()) {
                try (Lease lease = client.acquire(name)) {
                    if (enterWhile(lease)) {
                        done.incrementAndGet();
                    }
                } catch (LeaseLostException | LockStoreException e) {
                    // That may happen; two at once may not.
                } catch (InterruptedException e) {
                    return;
                }
            }
        }

        /** A thread that loses its lease inside has left before another thread enters. */
        private boolean enterWhile(Lease lease) {
            AtomicBoolean inside = new AtomicBoolean(true);
            detector.enter(lease.fencingToken());
            lease.onLost(() -> {
                if (inside.compareAndSet(true, false)) {
                    detector.leave();
                }
            });
            LockSupport.parkNanos(200_000);
            boolean mine = inside.compareAndSet(true, false);
            if (mine) {
                detector.leave();
            }
            return mine;
        }

        void awaitMore(int count) {
            int from = done.get();
            await().atMost(PATIENCE).until(() -> done.get() >= from + count);
        }

        void end() {
            over.set(true);
            for (Thread thread : threads) {
                try {
                    thread.join(PATIENCE.toMillis());
                } catch (InterruptedException e) {
                    throw new AssertionError(e);
                }
                assertThat(thread.isAlive()).isFalse();
            }
            detector.assertClean();
        }
    }
}
