package io.holdfast.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.holdfast.redis.commands.Ability;
import io.holdfast.redis.commands.CommandsLockStore;
import io.holdfast.redis.commands.CompareWays;
import io.holdfast.spi.AcquireReply;
import io.holdfast.spi.AcquireReply.Busy;
import io.holdfast.spi.AcquireReply.Granted;
import io.holdfast.spi.RenewReply;
import io.holdfast.spi.RenewReply.Renewed;
import io.holdfast.spi.RenewRequest;
import io.holdfast.spi.StoreException;
import io.holdfast.testkit.servers.RedisCluster;
import io.holdfast.testkit.servers.RedisReplication;
import io.holdfast.testkit.servers.RedisServer;
import io.holdfast.testkit.servers.RespClient;
import io.holdfast.testkit.servers.SlotMigration;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Mode {@code commands} where servers fail over and slots move. */
@Timeout(120)
class CommandsTopologyTest {

    private static final String RIGHTS = "~* &* +@all -@scripting";

    /**
     * The hold was replicated. The next master offers less, so the way of releasing is chosen again there: a
     * transaction with PUBLISH in it would be refused.
     */
    @Test
    @Tag("deep")
    void afterAFailoverBehindSentinelsTheWayIsChosenAgain() {
        try (RedisReplication all = RedisReplication.builder()
                .sentinels()
                .downAfter(Duration.ofMillis(600))
                .start()) {
            RedisServer first = all.master();
            grant(first, RIGHTS);
            all.replicas().forEach(replica -> {
                grant(replica, RIGHTS + " -publish");
                takeNativeWays(replica);
            });
            String uri = all.sentinelUri().replace("://", "://app:pw@").replace("#", "?timeout=3s#");
            try (TestClient a = new TestClient(uri);
                    TestClient b = new TestClient(uri)) {
                assertThat(a.below()).isInstanceOf(CommandsLockStore.class);
                assertThat(choice(a).has(Ability.PUBLISH)).isTrue();
                String held = a.hold("n");
                long base = ((Granted) a.acquire("n", held, 30_000, false)).base();
                String waiting = b.queue("n");
                all.awaitInStep();
                first.kill();
                all.awaitMasterOtherThan(first);

                await().atMost(Duration.ofSeconds(20)).until(() -> !choice(a).has(Ability.PUBLISH));
                assertThat(choice(a).delete()).isEqualTo(Ability.WATCH);
                assertThat(eventually(() -> a.renew("n", held, 30_000))).isInstanceOf(Renewed.class);
                assertThat(eventually(() -> b.acquire("n", waiting, 30_000, true)))
                        .isInstanceOf(Busy.class);
                assertThat(eventually(() -> a.release("n", held))).isTrue();
                assertThat(polled(b, "n", waiting).base()).isGreaterThan(base);
                assertThat(b.release("n", waiting)).isTrue();
            }
        }
    }

    /** One slot moves key by key, another one's master dies. */
    @Test
    @Tag("deep") // quick: ClusterFaultsTest.slotsMove, and CommandsStoreTest
    void inAClusterTheLockFollowsItsSlot() {
        try (RedisCluster cluster =
                RedisCluster.builder().nodeTimeout(Duration.ofSeconds(1)).start()) {
            String uri = cluster.uri() + "?timeout=3s&mode=commands";
            try (TestClient a = new TestClient(uri);
                    TestClient b = new TestClient(uri)) {
                String held = a.hold("n");
                long base = ((Granted) a.acquire("n", held, 30_000, false)).base();
                String waiting = b.queue("n");
                RedisServer to = cluster.masters().stream()
                        .filter(node -> node != cluster.nodeOf("n"))
                        .findFirst()
                        .orElseThrow();
                SlotMigration migration = cluster.migrate(cluster.slotOf("n"), to);
                assertThat(a.renew("n", held, 30_000)).isInstanceOf(Renewed.class);
                migration.moveKey("n");
                if (choice(a).set() == Ability.WATCH) {
                    // A transaction is not served where a slot is only arriving. The engine repeats it.
                    StoreException apart = TestClient.failure(a.store.renew(RenewRequest.extend("n", held, 30_000, 0)));
                    assertThat(apart.outcome()).isEqualTo(StoreException.Outcome.NOT_EXECUTED);
                    assertThat(apart.getMessage()).contains("is moving the slot of this lock: ASK");
                } else {
                    assertThat(a.renew("n", held, 30_000)).isInstanceOf(Renewed.class);
                }
                migration.finish();
                assertThat(eventually(() -> a.renew("n", held, 30_000))).isInstanceOf(Renewed.class);
                assertThat(eventually(() -> b.acquire("n", waiting, 30_000, true)))
                        .isInstanceOf(Busy.class);
                assertThat(eventually(() -> a.release("n", held))).isTrue();
                long next = polled(b, "n", waiting).base();
                assertThat(next).isGreaterThan(base);

                await().atMost(Duration.ofSeconds(20))
                        .untilAsserted(() -> assertThat(cluster.replicasOf(to))
                                .allSatisfy(replica -> assertThat(
                                                replica.command("CLUSTER", "COUNTKEYSINSLOT", "" + cluster.slotOf("n")))
                                        .isEqualTo(
                                                to.command("CLUSTER", "COUNTKEYSINSLOT", "" + cluster.slotOf("n")))));
                int slot = cluster.slotOf("n");
                to.kill();
                cluster.awaitMasterOtherThan(to, slot);
                String third = a.newHolder();
                assertThat(eventually(() -> b.renew("n", waiting, 30_000))).isInstanceOf(Renewed.class);
                assertThat(eventually(() -> a.acquire("n", third, 30_000, true)))
                        .isInstanceOf(Busy.class);
                assertThat(eventually(() -> b.release("n", waiting))).isTrue();
                assertThat(polled(a, "n", third).base()).isGreaterThan(next);
                assertThat(eventually(() -> a.release("n", third))).isTrue();
            }
        }
    }

    /** Keys of many slots share the connections that are lent for WATCH, also while all are held and renewed. */
    @Test
    @Tag("deep")
    void aClusterHasFewConnectionsHoweverManySlotsHaveLocks() {
        try (RedisCluster cluster = RedisCluster.builder().replicasEach(0).start();
                TestClient a = new TestClient(cluster.uri() + "?mode=commands")) {
            assertThat(choice(a).delete()).isEqualTo(Ability.WATCH);
            long before = connections(cluster);
            Map<String, String> held = new HashMap<>();
            for (int i = 0; i < 300; i++) {
                held.put("order:" + i, a.hold("order:" + i));
            }
            List<CompletionStage<RenewReply>> renewing = new ArrayList<>();
            held.forEach((name, holder) -> renewing.add(a.store.renew(RenewRequest.extend(name, holder, 60_000, 0))));
            assertThat(renewing)
                    .allSatisfy(each -> assertThat(TestClient.get(each)).isInstanceOf(Renewed.class));
            assertThat(connections(cluster)).isLessThanOrEqualTo(before + 8 * 3);
            held.forEach((name, holder) -> assertThat(a.release(name, holder)).isTrue());
            assertThat(connections(cluster)).isLessThanOrEqualTo(before + 8 * 3);
        }
    }

    private static long connections(RedisCluster cluster) {
        return cluster.masters().stream()
                .mapToLong(node -> String.valueOf(node.command("CLIENT", "LIST", "TYPE", "NORMAL"))
                        .lines()
                        .filter(line -> line.contains("name=holdfast"))
                        .count())
                .sum();
    }

    private static CompareWays.Choice choice(TestClient client) {
        return ((CommandsLockStore) client.below()).choice();
    }

    /** Repeats what failed in a way that may pass, as the engine does. */
    private static <T> T eventually(Supplier<T> command) {
        long end = System.nanoTime() + Duration.ofSeconds(20).toNanos();
        while (true) {
            try {
                return command.get();
            } catch (StoreException e) {
                assertThat(e.outcome()).as(e.getMessage()).isNotEqualTo(StoreException.Outcome.FATAL);
                assertThat(System.nanoTime())
                        .as("not within 20 s: " + e.getMessage())
                        .isLessThan(end);
                await().pollDelay(Duration.ofMillis(50)).until(() -> true);
            }
        }
    }

    private static Granted polled(TestClient client, String name, String holder) {
        AcquireReply reply = await().atMost(Duration.ofSeconds(20))
                .until(() -> eventually(() -> client.acquire(name, holder, 30_000, true)), Granted.class::isInstance);
        return (Granted) reply;
    }

    private static void grant(RedisServer server, String rights) {
        server.command(("ACL SETUSER app on >pw " + rights).split(" "));
    }

    /** As a server without them, or an older one. */
    private static void takeNativeWays(RedisServer server) {
        for (String command : new String[] {"delifeq", "delex"}) {
            try {
                server.command("ACL", "SETUSER", "app", "-" + command);
            } catch (RespClient.ErrorReply e) {
                assertThat(e.getMessage()).contains("Unknown command");
            }
        }
    }
}
