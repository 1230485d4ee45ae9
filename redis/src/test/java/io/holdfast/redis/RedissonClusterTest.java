package io.holdfast.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.holdfast.redis.lua.Allowed;
import io.holdfast.redis.lua.LuaLockStore;
import io.holdfast.redis.server.RedisKeys;
import io.holdfast.spi.AcquireReply.Busy;
import io.holdfast.spi.AcquireReply.Granted;
import io.holdfast.testkit.servers.Installation;
import io.holdfast.testkit.servers.RedisCluster;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.AfterParameterizedClassInvocation;
import org.junit.jupiter.params.BeforeParameterizedClassInvocation;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.MethodSource;
import org.redisson.Redisson;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;
import org.redisson.config.ClusterServersConfig;
import org.redisson.config.Config;
import org.redisson.config.ShardedSubscriptionMode;

/**
 * A real Redisson in a real cluster: with sharded subscriptions, as 3.22 and later do on servers 7.0 and newer, and
 * with plain ones, as earlier versions do. Each side's release wakes the other's waiters, at once.
 */
@ParameterizedClass(name = "{0}")
@MethodSource("io.holdfast.redis.RedisClusterContractTest#servers")
@Timeout(90)
class RedissonClusterTest {

    /** Less than any poll of ours; Redisson does not poll, it waits for as long as the holder's lease. */
    private static final Duration AT_ONCE = Duration.ofMillis(700);

    private static RedisCluster cluster;
    private static boolean sharded;
    private static Map<ShardedSubscriptionMode, RedissonClient> peers;
    private static ExecutorService threads;

    RedissonClusterTest(Installation installation) {}

    @BeforeParameterizedClassInvocation
    static void start(Installation installation) {
        cluster = RedisCluster.builder()
                .installation(installation)
                .replicasEach(0)
                .start();
        sharded = installation.isAtLeast(7, 0);
        threads = Executors.newCachedThreadPool();
        peers = new LinkedHashMap<>();
        for (ShardedSubscriptionMode mode : List.of(ShardedSubscriptionMode.AUTO, ShardedSubscriptionMode.OFF)) {
            Config config = new Config();
            ClusterServersConfig servers = config.useClusterServers()
                    .setShardedSubscriptionMode(mode)
                    .setMasterConnectionMinimumIdleSize(1)
                    .setMasterConnectionPoolSize(4)
                    .setSubscriptionConnectionMinimumIdleSize(1)
                    .setSubscriptionConnectionPoolSize(4);
            cluster.masters().forEach(node -> servers.addNodeAddress(node.uri()));
            peers.put(mode, Redisson.create(config));
        }
    }

    @AfterParameterizedClassInvocation
    static void stop() {
        peers.values().forEach(RedissonClient::shutdown);
        threads.shutdownNow();
        cluster.close();
    }

    @Test
    void withBothKindsOfChannels() throws Exception {
        ourReleaseWakes("both", ShardedSubscriptionMode.AUTO, false);
        ourReleaseWakes("both", ShardedSubscriptionMode.OFF, false);
        theirReleaseWakesUs("both", ShardedSubscriptionMode.AUTO);
        theirReleaseWakesUs("both", ShardedSubscriptionMode.OFF);
    }

    @Test
    @Tag("deep") // quick: withBothKindsOfChannels
    void withOneKindOfChannels() throws Exception {
        ourReleaseWakes("sharded", ShardedSubscriptionMode.AUTO, false);
        theirReleaseWakesUs("sharded", ShardedSubscriptionMode.AUTO);
        ourReleaseWakes("plain", ShardedSubscriptionMode.OFF, false);
        theirReleaseWakesUs("plain", ShardedSubscriptionMode.OFF);
    }

    /** Where scripts may not publish, hints after the release do it. */
    @Test
    @Tag("deep") // quick: withBothKindsOfChannels, and RedissonWireTest
    void withHints() throws Exception {
        ourReleaseWakes("both", ShardedSubscriptionMode.AUTO, true);
        ourReleaseWakes("both", ShardedSubscriptionMode.OFF, true);
        ourReleaseWakes("sharded", ShardedSubscriptionMode.AUTO, true);
    }

    private static void ourReleaseWakes(String channels, ShardedSubscriptionMode mode, boolean hints) throws Exception {
        String name = "theirs-" + channels + mode + hints;
        try (TestClient ours = new TestClient(cluster.uri() + "?redissonChannels=" + channels)) {
            if (hints) {
                ((LuaLockStore) ours.below()).scripts().restrict(new Allowed(true, false, true));
            }
            String held = ours.hold(name);
            CompletableFuture<Long> theirs = CompletableFuture.supplyAsync(
                    () -> {
                        RLock lock = peers.get(mode).getLock(name);
                        lock.lock(30, TimeUnit.SECONDS);
                        long now = System.nanoTime();
                        lock.unlock();
                        return now;
                    },
                    threads);
            await().atMost(Duration.ofSeconds(10)).until(() -> listeners(name) > 0);
            long began = System.nanoTime();
            assertThat(ours.release(name, held)).isTrue();
            long nanos = theirs.get(20, TimeUnit.SECONDS) - began;
            // It tries once more after it has subscribed, and then sleeps for as long as we hold: 30 s.
            assertThat(Duration.ofNanos(nanos)).isLessThan(Duration.ofSeconds(15));
            System.out.println("Redisson, channels " + channels + ", its subscriptions " + mode
                    + (hints ? ", hints" : "") + ": woken by our release after " + nanos / 1_000_000 + " ms");
        }
    }

    private static void theirReleaseWakesUs(String channels, ShardedSubscriptionMode mode) throws Exception {
        String name = "ours-" + channels + mode;
        RLock lock = peers.get(mode).getLock(name);
        try (TestClient ours = new TestClient(cluster.uri() + "?redissonChannels=" + channels)) {
            lock.lock(30, TimeUnit.SECONDS);
            String waiting = ours.newHolder();
            assertThat(ours.acquire(name, waiting, 30_000, true)).isInstanceOf(Busy.class);
            ours.await("released " + name, 5_000); // once for the subscription
            ours.messages.clear();
            long began = System.nanoTime();
            lock.unlock();
            ours.await("released " + name, AT_ONCE.toMillis() + 4_000);
            System.out.println("Redisson, channels " + channels + ", it publishes " + mode + ": we are woken after "
                    + (System.nanoTime() - began) / 1_000_000 + " ms");
            assertThat(ours.acquire(name, waiting, 30_000, true)).isInstanceOf(Granted.class);
            assertThat(ours.release(name, waiting)).isTrue();
        }
    }

    /** Of either kind, at whatever node. */
    private static long listeners(String name) {
        String channel = RedisKeys.redissonChannel(name);
        List<String> ways = new ArrayList<>(List.of("NUMSUB"));
        if (sharded) {
            ways.add("SHARDNUMSUB");
        }
        long listeners = 0;
        for (var node : cluster.masters()) {
            for (String way : ways) {
                if (node.command("PUBSUB", way, channel) instanceof List<?> reply) {
                    listeners += (Long) reply.get(1);
                }
            }
        }
        return listeners;
    }
}
