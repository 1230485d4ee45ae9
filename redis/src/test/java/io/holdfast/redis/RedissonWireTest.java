package io.holdfast.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.holdfast.redis.server.RedisKeys;
import io.holdfast.spi.AcquireReply.Busy;
import io.holdfast.spi.AcquireReply.Granted;
import io.holdfast.spi.RenewReply.Gone;
import io.holdfast.spi.RenewReply.Renewed;
import io.holdfast.testkit.servers.RedisServer;
import io.holdfast.testkit.servers.RespClient;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.redisson.Redisson;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

/** The store and a real Redisson on one server: they exclude, wake and respect each other. */
class RedissonWireTest {

    private static RedisServer server;
    private static RedissonClient redisson;
    private static ExecutorService threads;
    private TestClient client;

    @BeforeAll
    static void start() {
        server = RedisServer.start();
        Config config = new Config();
        config.useSingleServer()
                .setAddress(server.uri())
                .setConnectionMinimumIdleSize(2)
                .setConnectionPoolSize(8);
        redisson = Redisson.create(config);
        threads = Executors.newCachedThreadPool();
    }

    @AfterAll
    static void stop() {
        threads.shutdownNow();
        redisson.shutdown();
        server.close();
    }

    @BeforeEach
    void open() {
        server.command("FLUSHALL");
        client = new TestClient(server.uri());
    }

    @AfterEach
    void close() {
        client.close();
    }

    @ParameterizedTest
    @ValueSource(strings = {"order:1", "a{b}c", "{x}", "a}b"})
    void weHoldSoTheyDoNot(String name) {
        String holder = client.hold(name);
        RLock theirs = redisson.getLock(name);
        assertThat(theirs.isLocked()).isTrue();
        assertThat(onOtherThread(theirs::tryLock)).isFalse();
        assertThat(theirs.remainTimeToLive()).isBetween(20_000L, 30_000L);
        assertThat(client.release(name, holder)).isTrue();
        assertThat(theirs.isLocked()).isFalse();
    }

    @ParameterizedTest
    @ValueSource(strings = {"order:1", "a{b}c", "{x}", "a}b"})
    void theyHoldSoWeDoNot(String name) {
        RLock theirs = redisson.getLock(name);
        theirs.lock(20, TimeUnit.SECONDS);
        try {
            Busy busy = (Busy) client.acquire(name, client.newHolder(), 30_000, false);
            assertThat(busy.holder()).matches("[0-9a-f-]{36}:\\d+");
            assertThat(busy.remainingMillis()).isBetween(10_000L, 20_000L);
            assertThat(client.inspect(name).holder()).isEqualTo(busy.holder());
        } finally {
            theirs.unlock();
        }
        client.hold(name);
    }

    /** Nothing we do to a name, late or wrong, reaches what Redisson holds. */
    @Test
    void whatTheyHoldIsNotTouched() {
        String before = client.hold("n");
        client.release("n", before);
        RLock theirs = redisson.getLock("n");
        theirs.lock(20, TimeUnit.SECONDS);
        try {
            long remaining = theirs.remainTimeToLive();
            assertThat(client.renew("n", before, 60_000)).isEqualTo(new Gone());
            assertThat(client.renew("n", before, 100, 3, true)).isEqualTo(new Gone());
            assertThat(client.release("n", before)).isFalse();
            assertThat(client.abandon("n", before)).isFalse();
            assertThat(client.releaseAndRequeue("n", before, client.newHolder()).wasHeld())
                    .isFalse();
            client.abandon("n", client.queue("n"));
            assertThat(theirs.isHeldByCurrentThread()).isTrue();
            assertThat(theirs.getHoldCount()).isEqualTo(1);
            assertThat(theirs.remainTimeToLive()).isBetween(remaining - 5_000, remaining);
        } finally {
            theirs.unlock();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"order:1", "a{b}c", "a}b"})
    void ourReleaseWakesThem(String name) throws Exception {
        String holder = client.hold(name);
        RLock theirs = redisson.getLock(name);
        CompletableFuture<Long> locked = waitingThread(theirs);
        awaitListeners(RedisKeys.redissonChannel(name), 1);

        long released = System.nanoTime();
        client.release(name, holder);
        // It sleeps for as long as we hold otherwise: 30 s.
        assertThat(locked.get(20, TimeUnit.SECONDS) - released).isLessThan(10_000_000_000L);
    }

    @ParameterizedTest
    @ValueSource(strings = {"order:1", "a{b}c", "a}b"})
    void theirReleaseWakesUs(String name) {
        RLock theirs = redisson.getLock(name);
        theirs.lock(30, TimeUnit.SECONDS);
        String waiting = client.queue(name);
        // Once for what may have been missed before the subscription.
        client.await("released " + name, 10_000);
        assertThat(client.acquire(name, waiting, 30_000, true)).isInstanceOf(Busy.class);

        theirs.unlock();
        client.await("released " + name, 10_000);
        assertThat(client.acquire(name, waiting, 30_000, true)).isInstanceOf(Granted.class);
        awaitListeners(RedisKeys.redissonChannel(name), 0);
    }

    @Test
    void theirForcedUnlockIsSeenByOurRenewal() {
        String holder = client.hold("n");
        assertThat(redisson.getLock("n").forceUnlock()).isTrue();
        assertThat(client.renew("n", holder, 30_000)).isEqualTo(new Gone());
        assertThat(client.release("n", holder)).isFalse();
    }

    @Test
    void ourForcedReleaseEndsTheirHoldAndWakesThem() throws Exception {
        redisson.getLock("n").lock(20, TimeUnit.SECONDS);
        CompletableFuture<Long> locked = waitingThread(redisson.getLock("n"));
        awaitListeners(RedisKeys.redissonChannel("n"), 1);
        assertThat(TestClient.get(client.store.forceRelease("n", null)).isEnded())
                .isTrue();
        locked.get(10, TimeUnit.SECONDS);
    }

    /** Their waiters are in no queue of ours: they get the lock all the same while ours keep handing it on. */
    @Test
    void ourHandOffsDoNotStarveThem() throws Exception {
        try (TestClient other = new TestClient(server.uri())) {
            String holder = client.hold("n");
            CompletableFuture<Long> locked = waitingThread(redisson.getLock("n"));
            awaitListeners(RedisKeys.redissonChannel("n"), 1);
            TestClient[] clients = {client, other};
            int handOffs = 0;
            while (!locked.isDone() && handOffs < 1_000) {
                TestClient from = clients[handOffs % 2];
                TestClient to = clients[(handOffs + 1) % 2];
                String next = to.queue("n");
                from.release("n", holder);
                // The lock was granted to the next one, or left free for the first to ask.
                while (!locked.isDone() && !(to.acquire("n", next, 30_000, true) instanceof Granted)) {
                    Thread.sleep(1);
                }
                holder = next;
                handOffs++;
            }
            assertThat(locked).isCompleted();
            assertThat(handOffs).isLessThan(1_000);
        }
    }

    /** Nor does a client that queues again behind nobody at every release. */
    @Test
    void ourRequeueingDoesNotStarveThem() {
        String holder = client.hold("n");
        CompletableFuture<Long> locked = waitingThread(redisson.getLock("n"));
        awaitListeners(RedisKeys.redissonChannel("n"), 1);
        boolean left = false;
        for (int i = 0; i < 1_000 && !left; i++) {
            String next = client.newHolder();
            left = client.releaseAndRequeue("n", holder, next).requeued() instanceof Busy busy
                    && busy.remainingMillis() <= 50
                    && busy.ahead() == 0;
            holder = next;
        }
        assertThat(left).isTrue();
        locked.join();
        assertThat(client.abandon("n", holder)).isFalse();
    }

    /** They count as waiting, so that a client hands its lock on among its own threads for a short time only. */
    @Test
    void theirWaitersCountAsWaiting() {
        String holder = client.hold("n");
        CompletableFuture<Long> locked = waitingThread(redisson.getLock("n"));
        awaitListeners(RedisKeys.redissonChannel("n"), 1);
        assertThat(((Renewed) client.renew("n", holder, 30_000)).waiting()).isEqualTo(1);
        client.release("n", holder);
        locked.join();
    }

    /** The short path counts nobody. A release is published all the same, and who heard it is counted from then on. */
    @Test
    void theirWaitersAreCountedOnceTheyHeardARelease() throws Exception {
        try (RespClient listener = RespClient.connect(server.host(), server.port(), Duration.ofSeconds(10))) {
            listener.call("SUBSCRIBE", RedisKeys.redissonChannel("heard"));
            String first = client.newHolder();
            assertThat(((Granted) client.acquire("heard", first, 30_000, false)).waiting())
                    .isZero();
            assertThat(client.release("heard", first)).isTrue();
            assertThat(((Granted) client.acquire("heard", client.newHolder(), 30_000, false)).waiting())
                    .isEqualTo(1);
        }
    }

    /** A message less for each release, where nobody waits at Redisson: our own waiters do not need it. */
    @Test
    void withoutRedissonsChannelsOnlyOurWaitersAreWoken() throws Exception {
        String channel = RedisKeys.redissonChannel("quiet");
        try (RespClient listener = RespClient.connect(server.host(), server.port(), Duration.ofSeconds(10));
                TestClient alone = new TestClient(server.uri() + "?redissonChannels=none")) {
            listener.call("SUBSCRIBE", channel);
            String first = alone.hold("quiet");
            String second = alone.queue("quiet");
            assertThat(alone.release("quiet", first)).isTrue();
            alone.await("granted quiet " + second, 5_000);
            assertThat(alone.release("quiet", second)).isTrue();
            // A message would come before this answer.
            assertThat(listener.call("PING")).isEqualTo(List.of("pong", ""));
        }
    }

    @Test
    void subscriptionsEndWithTheWait() {
        RLock theirs = redisson.getLock("n");
        theirs.lock(30, TimeUnit.SECONDS);
        String first = client.queue("n");
        String second = client.queue("n");
        awaitListeners(RedisKeys.redissonChannel("n"), 1);
        client.abandon("n", first);
        awaitListeners(RedisKeys.redissonChannel("n"), 1);
        client.abandon("n", second);
        awaitListeners(RedisKeys.redissonChannel("n"), 0);
        // Without a place in the queue nobody is woken, so nobody listens.
        client.acquire("n", client.newHolder(), 30_000, false);
        awaitListeners(RedisKeys.redissonChannel("n"), 0);
        theirs.unlock();
    }

    /** A thread that waits for the lock and lets it go again; completes with the time at which it had it. */
    private static CompletableFuture<Long> waitingThread(RLock lock) {
        return CompletableFuture.supplyAsync(
                () -> {
                    lock.lock(10, TimeUnit.SECONDS);
                    long time = System.nanoTime();
                    lock.unlock();
                    return time;
                },
                threads);
    }

    private static boolean onOtherThread(java.util.function.Supplier<Boolean> call) {
        return CompletableFuture.supplyAsync(call, threads).join();
    }

    private static void awaitListeners(String channel, long count) {
        await().atMost(Duration.ofSeconds(20))
                .untilAsserted(() -> assertThat(server.command("PUBSUB", "NUMSUB", channel))
                        .isEqualTo(java.util.List.of(channel, count)));
    }
}
