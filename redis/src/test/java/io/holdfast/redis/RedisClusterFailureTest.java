package io.holdfast.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.holdfast.Lease;
import io.holdfast.LockClient;
import io.holdfast.spi.AcquireReply.Busy;
import io.holdfast.spi.AcquireReply.Granted;
import io.holdfast.testkit.servers.RedisCluster;
import io.holdfast.testkit.servers.RedisServer;
import java.net.URI;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Masters of a cluster that fail. */
class RedisClusterFailureTest {

    /** What the peer that we measured loses: the leases on all masters, when one of them does not answer. */
    @Tag("deep")
    @Test
    void aStoppedMasterDelaysNoOthersRenewals() throws Exception {
        Duration lease = Duration.ofSeconds(6);
        try (RedisCluster cluster = RedisCluster.builder()
                        .replicasEach(0)
                        .nodeTimeout(Duration.ofMinutes(1))
                        .args("--cluster-require-full-coverage", "no")
                        .start();
                LockClient locks = LockClient.builder()
                        .uri(cluster.uri() + "?timeout=3s&namePrefix=")
                        .leaseTime(lease)
                        .build()) {
            RedisServer stopped = cluster.masters().get(1);
            Map<String, Lease> leases = new HashMap<>();
            for (int i = 0; i < 60; i++) {
                leases.put("lock:" + i, locks.acquire("lock:" + i));
            }
            long there = leases.keySet().stream()
                    .filter(name -> cluster.nodeOf(name) == stopped)
                    .count();
            Map<String, Boolean> onStopped = new HashMap<>();
            leases.keySet().forEach(name -> onStopped.put(name, cluster.nodeOf(name) == stopped));
            stopped.pause();
            try {
                await().pollDelay(lease.multipliedBy(2))
                        .atMost(Duration.ofSeconds(60))
                        .untilAsserted(() -> assertThat(leases.entrySet().stream()
                                        .filter(one -> Boolean.TRUE.equals(onStopped.get(one.getKey())))
                                        .noneMatch(one -> one.getValue().isValid()))
                                .as("those on the stopped master are lost")
                                .isTrue());
                assertThat(leases.entrySet().stream()
                                .filter(one -> Boolean.FALSE.equals(onStopped.get(one.getKey())))
                                .filter(one -> !one.getValue().isValid())
                                .count())
                        .as("lost leases on the other masters, of " + (leases.size() - there))
                        .isZero();
                assertThat(there).isBetween(1L, 59L);
                // New locks there can be taken, too.
                String other = leases.keySet().stream()
                        .filter(name -> Boolean.FALSE.equals(onStopped.get(name)))
                        .findFirst()
                        .orElseThrow();
                leases.get(other).release();
                locks.acquire(other).release();
            } finally {
                stopped.resume();
            }
        }
    }

    /** TIME has no key, so the driver would send it to any node. */
    @Test
    @Tag("deep") // quick: ClusterFaultsTest.aMasterFailsOverInGoodOrder
    void withoutScriptsTooAStoppedMasterDelaysNoOthersLocks() {
        try (RedisCluster cluster = RedisCluster.builder()
                        .replicasEach(0)
                        .nodeTimeout(Duration.ofMinutes(1))
                        .args("--cluster-require-full-coverage", "no")
                        .start();
                TestClient client = new TestClient(cluster.uri() + "?timeout=2s&mode=commands")) {
            for (RedisServer stopped : cluster.masters()) {
                stopped.pause();
                try {
                    for (RedisServer other : cluster.masters()) {
                        if (other != stopped) {
                            String name = Stream.iterate(1, i -> i + 1)
                                    .map(i -> "n" + i)
                                    .filter(each -> cluster.nodeOf(each) == other)
                                    .findFirst()
                                    .orElseThrow();
                            long began = System.nanoTime();
                            String held = client.hold(name);
                            client.renew(name, held, 60_000);
                            assertThat(client.inspect(name).holder()).isEqualTo(held);
                            assertThat(client.release(name, held)).isTrue();
                            assertThat(Duration.ofNanos(System.nanoTime() - began))
                                    .isLessThan(Duration.ofSeconds(2));
                        }
                    }
                } finally {
                    stopped.resume();
                }
            }
        }
    }

    @Test
    @Tag("deep") // quick: RedisSentinelTest, and ClusterFaultsTest.aMasterFailsOverInGoodOrder
    void aKilledMasterIsReplaced() {
        try (RedisCluster cluster = RedisCluster.start();
                TestClient a = new TestClient(cluster.uri() + "?timeout=3s&namePrefix=");
                TestClient b = new TestClient(cluster.uri() + "?timeout=3s&namePrefix=")) {
            String held = a.hold("n");
            String waiting = b.queue("n");
            Granted before = (Granted) a.acquire("n", held, 30_000, false);
            RedisServer master = cluster.nodeOf("n");
            await().atMost(20, TimeUnit.SECONDS)
                    .untilAsserted(() -> assertThat(cluster.replicasOf(master))
                            .allSatisfy(replica -> assertThat(String.valueOf(replica.command("INFO", "replication")))
                                    .contains("master_link_status:up")));
            int slot = cluster.slotOf("n");
            master.kill();
            cluster.awaitMasterOtherThan(master, slot);

            b.await("reconnected", 20_000);
            assertThat(((Granted) RedisSentinelTest.eventually(a, "n", held)).base())
                    .isEqualTo(before.base());
            RedisSentinelTest.eventually(b, "n", waiting);
            assertThat(a.release("n", held)).isTrue();
            assertThat(RedisSentinelTest.polledUntilGranted(b, "n", waiting).base())
                    .isGreaterThan(before.base());
        }
    }

    /**
     * The master of the client's own channel is away. That channel only announces waiting clients, so the store opens,
     * works at the other masters, and subscribes as soon as the slot has a master again.
     */
    @Tag("deep")
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void aStoreOpensWhileTheMasterOfItsChannelIsAway(boolean killed) {
        try (RedisCluster cluster = RedisCluster.builder()
                .replicasEach(0)
                .nodeTimeout(Duration.ofSeconds(1))
                .args("--cluster-require-full-coverage", "no")
                .start()) {
            String id = TestClient.newId();
            RedisServer away = cluster.nodeOf("holdfast:c:" + id);
            String here = Stream.iterate(1, i -> i + 1)
                    .map(i -> "n" + i)
                    .filter(name -> cluster.nodeOf(name) != away)
                    .findFirst()
                    .orElseThrow();
            if (killed) {
                away.kill();
            } else {
                away.pause();
            }
            URI uri = URI.create(cluster.uri() + "?timeout=2s&namePrefix=");
            long began = System.nanoTime();
            try (TestClient a = new TestClient(id, context -> new RedisLockStoreProvider().open(uri, context));
                    TestClient b = new TestClient(uri.toString())) {
                System.out.println("opened two stores beside a master that was " + (killed ? "killed" : "stopped")
                        + " after " + (System.nanoTime() - began) / 1_000_000 + " ms");
                // The others serve their slots while the slots of the lost master have no master.
                String held = a.newHolder();
                assertThat(RedisSentinelTest.eventually(a, here, held)).isInstanceOf(Granted.class);
                String first = b.newHolder();
                assertThat(RedisSentinelTest.eventually(b, here, first)).isInstanceOf(Busy.class);
                a.messages.clear();
                if (killed) {
                    away.restart();
                } else {
                    away.resume();
                }
                cluster.awaitOk();
                await().atMost(Duration.ofSeconds(20))
                        .until(() -> String.valueOf(away.command("PUBSUB", "CHANNELS", "holdfast:c:" + id))
                                .contains(id));
                b.abandon(here, first);
                b.queue(here);
                a.await("contended " + here + " " + held, 5_000);
                a.release(here, held);
            }
        }
    }
}
