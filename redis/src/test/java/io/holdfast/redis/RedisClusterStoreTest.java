package io.holdfast.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.holdfast.LockClient;
import io.holdfast.redis.lua.LuaLockStore;
import io.holdfast.redis.server.RedisKeys;
import io.holdfast.spi.AcquireReply.Busy;
import io.holdfast.spi.AcquireReply.Granted;
import io.holdfast.spi.AcquireRequest;
import io.holdfast.spi.ReleaseRequest;
import io.holdfast.spi.RenewReply;
import io.holdfast.spi.RenewRequest;
import io.holdfast.spi.StoreException;
import io.holdfast.testkit.servers.Installation;
import io.holdfast.testkit.servers.RedisCluster;
import io.holdfast.testkit.servers.RedisServer;
import io.holdfast.testkit.servers.SlotMigration;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.AfterParameterizedClassInvocation;
import org.junit.jupiter.params.BeforeParameterizedClassInvocation;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What is different in a cluster, on three masters without replicas. */
@ParameterizedClass(name = "{0}")
@MethodSource("io.holdfast.redis.RedisClusterContractTest#servers")
class RedisClusterStoreTest {

    private static RedisCluster cluster;

    private final boolean sharded;

    RedisClusterStoreTest(Installation installation) {
        sharded = installation.isAtLeast(7, 0);
    }

    @BeforeParameterizedClassInvocation
    static void start(Installation installation) {
        cluster = RedisCluster.builder()
                .installation(installation)
                .replicasEach(0)
                .start();
    }

    @AfterParameterizedClassInvocation
    static void stop() {
        cluster.close();
    }

    /** A script whose keys were in two slots would be refused by the server. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "plain",
                "a{b}c",
                "a}b",
                "a{}b",
                "{}",
                "{",
                "}",
                "{{x}}",
                "}{",
                "a{b",
                "{user}:1",
                "with space",
                "é{ü}",
                "a{b}{c}"
            })
    void everyNameIsALock(String name) {
        try (TestClient a = new TestClient(cluster.uri());
                TestClient b = new TestClient(cluster.uri())) {
            String held = a.hold(name);
            String waiting = b.queue(name);
            a.await("contended " + name + " " + held, 5_000);
            assertThat(a.renew(name, held, 30_000)).isInstanceOf(RenewReply.Renewed.class);
            assertThat(a.inspect(name).waiting()).isEqualTo(1);
            String next = a.newHolder();
            assertThat(a.releaseAndRequeue(name, held, next).requeued()).isInstanceOf(Busy.class);
            b.await("granted " + name + " " + waiting, 5_000);
            assertThat(b.release(name, waiting)).isTrue();
            a.await("granted " + name + " " + next, 5_000);
            assertThat(a.abandon(name, next)).isTrue();
            assertThat(a.inspect(name).holder()).isNull();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"lua", "commands"})
    void theCounterOfASlotIsMadeAnewOrNamed(String mode) {
        String name = "counted-" + mode;
        String counter = RedisKeys.ofCluster("holdfast").counter(name);
        RedisServer node = cluster.nodeOf(name);
        try (TestClient client = new TestClient(cluster.uri() + "?mode=" + mode)) {
            long last = 0;
            for (List<String> change : List.of(
                    List.of("EXISTS", counter), // as a release left it
                    List.of("DEL", counter),
                    List.of("SET", counter, "text"),
                    List.of("SET", counter, "7"))) {
                node.command(change.toArray(String[]::new));
                String holder = client.newHolder();
                long base = ((Granted) client.acquire(name, holder, 30_000, false)).base();
                assertThat(base).as("after %s", change).isGreaterThan(last);
                last = base;
                assertThat(client.release(name, holder)).isTrue();
                assertThat((Long) node.command("PTTL", counter)).isPositive();
            }
            node.command("DEL", counter);
            node.command("LPUSH", counter, "x");
            StoreException error =
                    TestClient.failure(client.store.acquire(client.request(name, client.newHolder(), 30_000, false)));
            assertThat(error.outcome()).isEqualTo(StoreException.Outcome.FATAL);
            assertThat(error).hasMessageContaining("\"" + counter + "\"").hasMessageContaining("of type list");
            assertThat(node.command("EXISTS", name)).isEqualTo(0L);
        } finally {
            node.command("DEL", counter);
        }
    }

    /** Slot, tag and channels follow from the key, not from the name. */
    @ParameterizedTest
    @ValueSource(strings = {"lock:", "%7Bapp%7D:", "%7B", "%7D", "%7B%7D"})
    void everyPrefixMakesALock(String prefix) {
        String uri = cluster.uri() + "?namePrefix=" + prefix;
        try (TestClient a = new TestClient(uri);
                TestClient b = new TestClient(uri)) {
            for (String name : List.of("plain", "a{b}c", "a}b", "{", "}")) {
                String held = a.hold(name);
                String waiting = b.queue(name);
                a.await("contended " + name + " " + held, 5_000);
                assertThat(a.release(name, held)).isTrue();
                b.await("granted " + name + " " + waiting, 5_000);
                assertThat(b.release(name, waiting)).isTrue();
            }
            AcquireRequest one = a.request("{t}1", a.newHolder(), 30_000, false);
            AcquireRequest two = a.request("{t}2", a.newHolder(), 30_000, false);
            b.hold("{t}2");
            if (a.store.canAcquireAll(List.of("{t}1", "{t}2"))) {
                assertThat(TestClient.get(a.store.acquireAll(List.of(one, two))).busy())
                        .isEqualTo("{t}2");
            }
            assertThat(TestClient.get(b.store.forceRelease("{t}2", null)).isEnded())
                    .isTrue();
        }
    }

    /** Grants are the frequent messages: where the servers can, they do not go to all nodes. */
    @Test
    void grantsAreShardedWhereServersAreNewEnough() {
        try (TestClient a = new TestClient(cluster.uri());
                TestClient b = new TestClient(cluster.uri())) {
            String held = a.hold("sharded");
            String waiting = b.queue("sharded");
            RedisServer node = cluster.nodeOf("sharded");
            long before = calls(node, "spublish");
            a.release("sharded", held);
            b.await("granted sharded " + waiting, 5_000);
            assertThat(calls(node, "spublish") - before).isEqualTo(sharded ? 1 : 0);
            b.release("sharded", waiting);
        }
    }

    /** Who gets the lock at once subscribes to nothing, and sends as many commands as on one server. */
    @Test
    void anUncontendedLockCostsTwoCommands() {
        try (TestClient a = new TestClient(cluster.uri())) {
            a.release("warm", a.hold("warm"));
            RedisServer node = cluster.nodeOf("warm");
            Map<String, Long> before = node.commandCounts();
            for (int i = 0; i < 10; i++) {
                String holder = a.newHolder();
                assertThat(a.acquire("warm", holder, 30_000, true)).isInstanceOf(Granted.class);
                a.release("warm", holder);
            }
            Map<String, Long> after = node.commandCounts();
            assertThat(difference("evalsha", before, after)).isEqualTo(20);
            assertThat(difference("ssubscribe", before, after)).isZero();
            assertThat(difference("subscribe", before, after)).isZero();
        }
    }

    /**
     * The first wait in a slot takes several steps. A waiter that gives up in between leaves no entry, even if its
     * client is closed at once, and listens to nothing.
     */
    @Test
    void aClientThatIsClosedDuringItsFirstWaitInASlotLeavesNothing() {
        String name = "first-wait";
        RedisServer node = cluster.nodeOf(name);
        node.command("HSET", name, "4a0e1b1e-0000-0000-0000-000000000000:1", "1");
        node.command("PEXPIRE", name, "30000");
        try (TestClient other = new TestClient(cluster.uri())) {
            AtomicReference<LuaLockStore> store = new AtomicReference<>();
            LockClient client = TestClient.connect(cluster.uri(), store);
            // Else the first step would be to learn the server's time.
            client.inspect(name);
            client.acquireAsync(name).toCompletableFuture().cancel(false);
            TestClient.closeInTime(client);
            assertThat(other.inspect(name).waiting()).isZero();
            assertThat(store.get().messages().redisson().size()).isZero();
        } finally {
            node.command("DEL", name);
        }
    }

    /** The driver subscribes again after a reconnect, even to what was given up in the meantime. */
    @Test
    void whoGivesUpWhileMessagesAreCutOffListensToNothingAfterwards() throws IOException {
        String name = "cut-off";
        String channel = RedisKeys.redissonChannel(name);
        RedisServer node = cluster.nodeOf(name);
        for (String each : List.of(name, "{cut-off}2")) {
            node.command("HSET", each, "4a0e1b1e-0000-0000-0000-000000000000:1", "1");
            node.command("PEXPIRE", each, "60000");
        }
        try (Socket admin = new Socket(InetAddress.getLoopbackAddress(), node.port());
                TestClient a = new TestClient(cluster.uri())) {
            String holder = a.queue(name);
            await().until(() -> listeners(node, channel) == 1);
            call(admin, "CONFIG SET maxclients 1");
            call(admin, "CLIENT KILL TYPE pubsub");
            assertThat(a.abandon(name, holder)).isFalse();
            call(admin, "CONFIG SET maxclients 10000");
            // Until messages of this node are heard again.
            String other = a.queue("{cut-off}2");
            await().atMost(Duration.ofSeconds(30))
                    .until(() -> listeners(node, RedisKeys.redissonChannel("{cut-off}2")) == 1);
            a.abandon("{cut-off}2", other);

            await().atMost(Duration.ofSeconds(10)).until(() -> listeners(node, channel) == 0);
        } finally {
            node.command("DEL", name, "{cut-off}2");
        }
    }

    private static long listeners(RedisServer node, String channel) {
        return (Long) ((List<?>) node.command("PUBSUB", "NUMSUB", channel)).get(1);
    }

    /** On a connection that is there already. */
    private static void call(Socket admin, String command) throws IOException {
        admin.getOutputStream().write((command + "\r\n").getBytes(StandardCharsets.US_ASCII));
        assertThat(admin.getInputStream().read(new byte[256])).isPositive();
    }

    /** One command for each slot, because all keys of a script must be in one. */
    @Test
    void renewalsAreGroupedBySlot() {
        try (TestClient a = new TestClient(cluster.uri())) {
            List<RenewRequest> requests = new ArrayList<>();
            for (int i = 0; i < 300; i++) {
                requests.add(renewal(a, "{one}:" + i));
            }
            for (int i = 0; i < 30; i++) {
                requests.add(i * 3, renewal(a, "many:" + i));
            }
            requests.add(7, RenewRequest.extend("{one}:gone", "hf-x:1", 30_000, 0));
            long slots = requests.stream()
                    .map(r -> cluster.slotOf(r.name()))
                    .distinct()
                    .count();
            long before = calls(null, "evalsha");
            List<CompletionStage<RenewReply>> replies = a.renewAll(requests);
            for (int i = 0; i < requests.size(); i++) {
                assertThat(TestClient.get(replies.get(i)))
                        .isInstanceOf(i == 7 ? RenewReply.Gone.class : RenewReply.Renewed.class);
            }
            // 301 of one slot take three commands.
            assertThat(calls(null, "evalsha") - before).isEqualTo(slots + 2);
            requests.stream().filter(r -> !r.name().endsWith("gone")).forEach(r -> a.release(r.name(), r.holderId()));
        }
    }

    /** Held, waited for, handed on, while the slot moves key by key. */
    @Test
    void aSlotMovesUnderAContendedLock() {
        try (TestClient a = new TestClient(cluster.uri());
                TestClient b = new TestClient(cluster.uri());
                TestClient c = new TestClient(cluster.uri())) {
            String name = "moving" + (sharded ? "-s" : "");
            String held = a.hold(name);
            String second = b.queue(name);
            RedisServer from = cluster.nodeOf(name);
            RedisServer to = masterBeside(from);
            SlotMigration migration = cluster.migrate(cluster.slotOf(name), to);
            assertThat(a.renew(name, held, 30_000)).isInstanceOf(RenewReply.Renewed.class);
            migration.moveKey(name);
            // The lock key alone is enough for that, wherever it is; with the others it would be refused until the end.
            assertThat(a.renew(name, held, 30_000)).isInstanceOf(RenewReply.Renewed.class);
            StoreException halfMoved =
                    TestClient.failure(c.store.acquire(c.request(name, c.newHolder(), 30_000, false)));
            assertThat(halfMoved.getMessage()).contains("TRYAGAIN");
            assertThat(halfMoved.outcome()).isEqualTo(StoreException.Outcome.NOT_EXECUTED);
            migration.finish();

            assertThat(a.renew(name, held, 30_000)).isInstanceOf(RenewReply.Renewed.class);
            // B polls, is redirected, and its subscription follows the slot.
            await().atMost(Duration.ofSeconds(10)).until(() -> {
                b.acquire(name, second, 30_000, true);
                return listensAt(to, second);
            });
            String third = c.queue(name);
            a.release(name, held);
            b.await("granted " + name + " " + second, 5_000);
            Granted granted = (Granted) b.acquire(name, second, 30_000, true);
            b.release(name, second);
            assertThat(awaitTurn(c, name, third).base()).isGreaterThan(granted.base());
            c.release(name, third);
            migrateBack(name, from);
        }
    }

    /** Many renewals go in one command, which a half-moved slot refuses; each lock key alone is at one node. */
    @Test
    void locksOfAHalfMovedSlotAreRenewed() {
        try (TestClient a = new TestClient(cluster.uri())) {
            String tag = "half" + (sharded ? "-s" : "");
            List<RenewRequest> requests = new ArrayList<>();
            for (int i = 0; i < 4; i++) {
                String name = "{" + tag + "}:" + i;
                requests.add(RenewRequest.extend(name, a.hold(name), 30_000, 0).counted(i < 2));
            }
            RedisServer from = cluster.nodeOf(tag);
            RedisServer to = masterBeside(from);
            SlotMigration migration = cluster.migrate(cluster.slotOf(tag), to);
            migration.moveKey("{" + tag + "}:0");
            migration.moveKey("{" + tag + "}:3");
            assertThat(a.renewAll(requests).stream().map(TestClient::get))
                    .hasSize(4)
                    .allMatch(RenewReply.Renewed.class::isInstance);
            migration.finish();
            requests.forEach(
                    held -> assertThat(a.release(held.name(), held.holderId())).isTrue());
            migrateBack(tag, from);
        }
    }

    /**
     * From 7.0 on, the node that a slot leaves ends the subscriptions there, and the waiter follows at once. Before
     * 7.0, the waiter keeps its subscription at the old node. NUMSUB at the new node does not count it, so a release
     * passes it over. It finds the lock by its next poll, which also moves its subscription.
     */
    @Test
    void aWaiterOfAMovingSlotFindsTheLockByItsNextPollAtTheLatest() {
        try (TestClient a = new TestClient(cluster.uri());
                TestClient b = new TestClient(cluster.uri())) {
            String name = "moved" + (sharded ? "-s" : "");
            String held = a.hold(name);
            String waiting = b.queue(name);
            RedisServer from = cluster.nodeOf(name);
            RedisServer to = masterBeside(from);
            cluster.migrate(cluster.slotOf(name), to).finish();
            if (sharded) {
                await().atMost(Duration.ofSeconds(10)).until(() -> listensAt(to, waiting));
                assertThat(a.release(name, held)).isTrue();
                b.await("granted " + name + " " + waiting, 5_000);
            } else {
                assertThat(listensAt(from, waiting)).isTrue();
                assertThat(listensAt(to, waiting)).isFalse();
                assertThat(a.release(name, held)).isTrue();
                assertThat(a.inspect(name).holder()).as("passed over").isNull();
                assertThat(b.acquire(name, waiting, 30_000, true)).isInstanceOf(Granted.class);
                await().atMost(Duration.ofSeconds(10)).until(() -> listensAt(to, waiting));
            }
            assertThat(b.release(name, waiting)).isTrue();
            migrateBack(name, from);
        }
    }

    /**
     * The slot is leaving, and no key has moved yet: a script can delete the lock key there, but not write it again.
     * The next waiter must not receive a grant.
     */
    @Test
    void aGrantThatCannotBeWrittenIsNotTold() {
        try (TestClient a = new TestClient(cluster.uri());
                TestClient b = new TestClient(cluster.uri());
                TestClient c = new TestClient(cluster.uri())) {
            String name = "leaving" + (sharded ? "-s" : "");
            String held = a.hold(name);
            long base = ((Granted) a.acquire(name, held, 30_000, false)).base();
            String second = b.queue(name);
            String third = c.queue(name);
            RedisServer from = cluster.nodeOf(name);
            RedisServer to = masterBeside(from);
            SlotMigration migration = cluster.migrate(cluster.slotOf(name), to);

            StoreException half = TestClient.failure(a.store.release(ReleaseRequest.of(name, held)));
            // The outcome is unknown: the engine asks again, and learns that it does not hold the lock any more.
            assertThat(half.outcome()).isEqualTo(StoreException.Outcome.UNKNOWN);
            assertThat(half.getMessage()).contains("its slots are being moved");
            assertThat(migration.remainingKeys()).doesNotContain(name);
            await().during(Duration.ofMillis(500))
                    .atMost(Duration.ofSeconds(20))
                    .until(() -> Stream.of(b, c)
                            .flatMap(client -> client.messages.stream())
                            .noneMatch(message -> message.startsWith("granted")));

            migration.finish();
            assertThat(a.release(name, held)).isFalse();
            // Whoever is first: one of them, and then the other.
            AtomicReference<TestClient> winner = new AtomicReference<>();
            await().atMost(Duration.ofSeconds(20)).until(() -> {
                boolean b1 = RedisSentinelTest.eventually(b, name, second) instanceof Granted;
                boolean c1 = RedisSentinelTest.eventually(c, name, third) instanceof Granted;
                assertThat(b1 && c1).as("both have it").isFalse();
                winner.set(b1 ? b : c);
                return b1 || c1;
            });
            TestClient one = winner.get();
            TestClient other = one == b ? c : b;
            String ones = one == b ? second : third;
            String others = one == b ? third : second;
            long next = ((Granted) one.acquire(name, ones, 30_000, true)).base();
            assertThat(next).isGreaterThan(base);
            assertThat(other.acquire(name, others, 30_000, true)).isInstanceOf(Busy.class);
            assertThat(one.release(name, ones)).isTrue();
            assertThat(awaitTurn(other, name, others).base()).isGreaterThan(next);
            other.release(name, others);
            migrateBack(name, from);
        }
    }

    /** Polls as a waiting client does: the message of a grant may have been lost with the old subscription. */
    private static Granted awaitTurn(TestClient waiting, String name, String holderId) {
        return (Granted) await().atMost(Duration.ofSeconds(10))
                .until(() -> waiting.acquire(name, holderId, 30_000, true), Granted.class::isInstance);
    }

    private static RedisServer masterBeside(RedisServer other) {
        return cluster.masters().stream()
                .filter(node -> node != other)
                .findFirst()
                .orElseThrow();
    }

    /** Whether the client of a holder id would hear a grant from this node. */
    private boolean listensAt(RedisServer node, String holderId) {
        String client = holderId.substring(0, holderId.lastIndexOf(':'));
        Object channels = node.command("PUBSUB", sharded ? "SHARDCHANNELS" : "CHANNELS", "holdfast:c:{*" + client);
        return channels instanceof List<?> some && !some.isEmpty();
    }

    private static void migrateBack(String name, RedisServer to) {
        cluster.migrate(cluster.slotOf(name), to).finish();
        await().atMost(Duration.ofSeconds(10))
                .untilAsserted(() -> assertThat(cluster.nodeOf(name)).isSameAs(to));
    }

    private static RenewRequest renewal(TestClient client, String name) {
        return RenewRequest.extend(name, client.hold(name), 30_000, 0);
    }

    private static long calls(@org.jspecify.annotations.Nullable RedisServer node, String command) {
        List<RedisServer> counted = node == null ? cluster.masters() : List.of(node);
        return counted.stream()
                .mapToLong(one -> one.commandCounts().getOrDefault(command, 0L))
                .sum();
    }

    private static long difference(String command, Map<String, Long> before, Map<String, Long> after) {
        return after.getOrDefault(command, 0L) - before.getOrDefault(command, 0L);
    }
}
