package io.holdfast.redis.lua;

import static io.holdfast.redis.TestClient.failure;
import static io.holdfast.redis.TestClient.get;
import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.redis.TestClient;
import io.holdfast.spi.AcquireReply;
import io.holdfast.spi.AcquireReply.Busy;
import io.holdfast.spi.AcquireReply.Granted;
import io.holdfast.spi.ReleaseReply;
import io.holdfast.spi.RenewReply.Gone;
import io.holdfast.spi.RenewReply.Renewed;
import io.holdfast.spi.RenewRequest;
import io.holdfast.spi.StoreException;
import io.holdfast.spi.StoreState;
import io.holdfast.testkit.servers.Installation;
import io.holdfast.testkit.servers.RedisServer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.AfterParameterizedClassInvocation;
import org.junit.jupiter.params.BeforeParameterizedClassInvocation;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What is special about Redis: commands, keys, foreign keys, messages. The rest is in the contract. */
@ParameterizedClass(name = "{0}")
@MethodSource("io.holdfast.testkit.servers.RedisServer#available")
public class LuaLockStoreTest {

    private static RedisServer server;
    private TestClient a;
    private TestClient b;

    LuaLockStoreTest(Installation installation) {}

    @BeforeParameterizedClassInvocation
    static void startServer(Installation installation) {
        server = RedisServer.builder().installation(installation).start();
    }

    @AfterParameterizedClassInvocation
    static void stopServer() {
        server.close();
    }

    @BeforeEach
    void open() {
        server.command("FLUSHALL");
        a = new TestClient(server.uri());
        b = new TestClient(server.uri());
    }

    @AfterEach
    void close() {
        a.close();
        b.close();
    }

    @Test
    void anUncontendedPairCostsTwoCommands() {
        Map<String, Long> before = clientCommands();
        for (int i = 0; i < 10; i++) {
            assertThat(a.release("n" + i, a.hold("n" + i))).isTrue();
        }
        assertThat(difference(before)).containsExactlyEntriesOf(Map.of("evalsha", 20L));
    }

    /** With a message instead of a poll: release and queue again, confirm. */
    @Test
    void aHandOffCostsTwoCommandsAndOneMessage() {
        String holder = a.hold("n");
        String next = b.queue("n");
        Map<String, Long> before = clientCommands();
        long published = published();

        assertThat(a.releaseAndRequeue("n", holder, a.newHolder()).wasHeld()).isTrue();
        b.await("granted n " + next, 1_000);
        assertThat(b.renew("n", next, 30_000)).isInstanceOf(Renewed.class);

        assertThat(difference(before)).containsExactlyEntriesOf(Map.of("evalsha", 2L));
        assertThat(published() - published).isEqualTo(1);
    }

    @Test
    void forgottenScriptsAreSentOnce() {
        server.command("SCRIPT", "FLUSH");
        Map<String, Long> before = clientCommands();
        for (int i = 0; i < 3; i++) {
            String holder = a.hold("n");
            assertThat(a.renew("n", holder, 30_000)).isInstanceOf(Renewed.class);
            assertThat(a.release("n", holder)).isTrue();
        }
        // The first of each kind fails and is sent with its text.
        assertThat(difference(before)).containsEntry("eval", 3L).containsEntry("evalsha", 9L);
    }

    @ParameterizedTest
    @ValueSource(strings = {"order:1", "a{b}c", "a}b", "{}", "a{", "锁 mit Leerzeichen"})
    void everyKeyExpires(String name) {
        String holder = a.hold(name);
        String second = b.queue(name);
        a.queue(name);
        expectExpiry();
        assertThat(a.renew(name, holder, 30_000, 1, true)).isInstanceOf(Renewed.class);
        expectExpiry();
        a.releaseAndRequeue(name, holder, a.newHolder());
        b.await("granted " + name + " " + second, 1_000);
        expectExpiry();
        // The second of b, a's first and its requeued one, in this order.
        for (int i = 0; i < 3; i++) {
            assertThat(get(a.store.forceRelease(name, null)).isEnded()).isTrue();
            expectExpiry();
        }
        assertThat(get(a.store.forceRelease(name, null)).isEnded()).isFalse();
    }

    /** The counter outlives its holds; all else goes. */
    @Test
    void nothingElseStays() {
        String holder = a.hold("n");
        String waiting = b.queue("n");
        a.release("n", holder);
        b.await("granted n " + waiting, 1_000);
        b.release("n", waiting);
        assertThat(keys()).containsExactly("holdfast:b");
    }

    @Test
    void basesGrowWithoutTheLastOne() {
        long first = ((Granted) a.acquire("n", a.newHolder(), 30_000, false)).base();
        server.command("FLUSHALL");
        long second = ((Granted) a.acquire("n", a.newHolder(), 30_000, false)).base();
        assertThat(second).isGreaterThan(first);
    }

    /** The server's clock went back: the last base counts. */
    @Test
    void basesGrowWithoutTheClock() {
        long future = 1L << 48;
        server.command("SET", "holdfast:b", String.valueOf(future), "PX", "60000");
        assertThat(((Granted) a.acquire("n", a.newHolder(), 30_000, false)).base())
                .isGreaterThan(future);
        assertThat((Long) server.command("PTTL", "holdfast:b")).isGreaterThan(60_000);
    }

    @Test
    void aStringIsHeldBySomebodyElse() {
        server.command("SET", "n", "somebody", "PX", "20000");
        Busy busy = (Busy) a.acquire("n", a.newHolder(), 30_000, true);
        assertThat(busy.holder()).isEqualTo("a string of 8 bytes with an expiry");
        assertThat(busy.remainingMillis()).isBetween(10_000L, 20_000L);
        assertThat(a.inspect("n").holder()).isEqualTo("a string of 8 bytes with an expiry");
        assertThat(a.release("n", a.newHolder())).isFalse();
        assertThat(a.abandon("n", a.newHolder())).isFalse();
        assertThat(a.renew("n", a.newHolder(), 30_000)).isEqualTo(new Gone());
        assertThat(server.command("GET", "n")).isEqualTo("somebody");
        assertThat(get(a.store.forceRelease("n", null)).isEnded()).isTrue();
    }

    @Test
    void aForeignLockWithoutExpiryIsSaidToHaveNone() {
        server.command("SET", "n", "somebody");
        assertThat(((Busy) a.acquire("n", a.newHolder(), 30_000, true)).remainingMillis())
                .isEqualTo(Busy.NO_EXPIRY);
        assertThat(a.inspect("n")).isEqualTo(new StoreState("a string that is no lock", Busy.NO_EXPIRY, 0, 1));
    }

    @Test
    void aKeyThatIsNoLockIsRefusedAndLeftAlone() {
        server.command("RPUSH", "n", "precious");
        String sentence = "The key \"n\" at redis://127.0.0.1:" + server.port() + "/0 is of type list, so it is no lock"
                + " (expected: no such key, a hash or a string; use another lock name)";
        StoreException acquire = failure(a.store.acquire(a.request("n", a.newHolder(), 30_000, true)));
        assertThat(acquire).hasMessage(sentence);
        assertThat(acquire.outcome()).isEqualTo(StoreException.Outcome.FATAL);
        assertThat(failure(a.store.forceRelease("n", null)))
                .hasMessage("The key \"n\" at redis://127.0.0.1:" + server.port()
                        + "/0 is a list that is no lock, so it was not deleted (expected: a key that contains"
                        + " only a lock of Holdfast or Redisson, or a string with an expiry; use DEL if nobody"
                        + " needs the key)");
        assertThat(a.inspect("n").holder()).isEqualTo("a list that is no lock");
        assertThat(server.command("LRANGE", "n", "0", "-1")).isEqualTo(List.of("precious"));
    }

    /** Somebody's data under the name: not read into a message, not touched. */
    @Test
    void aLargeHashIsNotListed() {
        for (int i = 0; i < 70; i++) {
            server.command("HSET", "n", "field" + i, "x");
        }
        assertThat(((Busy) a.acquire("n", a.newHolder(), 30_000, false)).holder())
                .isEqualTo("a hash that is no lock");
    }

    @Test
    void manyRenewalsAreFewCommandsAndKeepTheirOrder() {
        List<RenewRequest> requests = new ArrayList<>();
        for (int i = 0; i < 300; i++) {
            String holder = i % 2 == 0 ? a.hold("n" + i) : a.newHolder();
            requests.add(RenewRequest.extend("n" + i, holder, 30_000, 0));
        }
        server.command("SET", "n7", "not a hash");
        Map<String, Long> before = clientCommands();
        var stages = a.renewAll(requests);
        for (int i = 0; i < 300; i++) {
            assertThat(get(stages.get(i))).isInstanceOf(i % 2 == 0 ? Renewed.class : Gone.class);
        }
        assertThat(difference(before)).containsExactlyEntriesOf(Map.of("evalsha", 3L));
    }

    @Test
    void aKeyThatIsNoQueueFailsNoRenewal() {
        List<RenewRequest> requests = new ArrayList<>();
        for (int i = 0; i < 10; i++) {
            requests.add(RenewRequest.extend("n" + i, a.hold("n" + i), 60_000, 0));
        }
        b.queue("n6");
        server.command("SET", "holdfast:q:{n5}", "x");
        var stages = a.renewAll(requests);
        for (int i = 0; i < 10; i++) {
            assertThat(get(stages.get(i))).as("n%s", i).isEqualTo(new Renewed(i == 6 ? 1 : 0));
        }
        assertThat(a.renew("n5", requests.get(5).holderId(), 60_000)).isEqualTo(new Renewed(0));
    }

    /** The server pays for each call. */
    @Test
    void anUncontendedPairCostsTenCalls() {
        a.release("n", a.hold("n"));
        server.command("DEL", "holdfast:b"); // below its floor
        server.command("CONFIG", "RESETSTAT");
        String holder = a.hold("n");
        assertThat(callsOfScripts())
                .isEqualTo(Map.of(
                        "evalsha", 1L, "time", 1L, "exists", 1L, "incr", 1L, "set", 1L, "hset", 1L, "pexpire", 1L));
        server.command("CONFIG", "RESETSTAT");
        assertThat(a.release("n", holder)).isTrue();
        assertThat(callsOfScripts()).isEqualTo(Map.of("evalsha", 1L, "hdel", 1L, "exists", 1L, "publish", 1L));
    }

    /** Counting is for fairness to Redisson, and begins when a lock of its own is met. */
    @ParameterizedTest
    @ValueSource(strings = {"both", "none"})
    void clientsOfRedissonAreCountedOnceOneWasSeen(String channels) {
        try (TestClient client = new TestClient(server.uri() + "?redissonChannels=" + channels)) {
            for (long counts : new long[] {0, channels.equals("none") ? 0 : 1}) {
                server.command("CONFIG", "RESETSTAT");
                client.release("n", client.hold("n"));
                assertThat(numsubs()).isEqualTo(counts);
                server.command("CONFIG", "RESETSTAT");
                get(client.store.acquireAll(List.of(
                        client.request("m", client.newHolder(), 30_000, false),
                        client.request("o", client.newHolder(), 30_000, false))));
                assertThat(numsubs()).isEqualTo(counts);
                server.command("DEL", "m", "o");

                server.command("HSET", "n", "285475da-9152-4c83-822a-67ee2f116a79:36", "1");
                assertThat(client.acquire("n", client.newHolder(), 30_000, false))
                        .isInstanceOf(Busy.class);
                server.command("DEL", "n");
            }
        }
    }

    @Test
    void aClientWithoutRedissonsChannelsSendsNothingThere() {
        try (TestClient client = new TestClient(server.uri() + "?redissonChannels=none")) {
            String holder = client.hold("n");
            server.command("CONFIG", "RESETSTAT");
            String next = client.newHolder();
            assertThat(client.releaseAndRequeue("n", holder, next).requeued()).isInstanceOf(Granted.class);
            assertThat(callsOfScripts()).doesNotContainKey("publish");
            assertThat(numsubs()).isZero();

            String waiting = b.queue("n");
            server.command("CONFIG", "RESETSTAT");
            assertThat(client.releaseAndRequeue("n", next, client.newHolder()).requeued())
                    .isInstanceOf(Busy.class);
            b.await("granted n " + waiting, 10_000);
            // Whether b listens, whether this client does, and the grant.
            assertThat(numsubs()).isEqualTo(2);
            assertThat(callsOfScripts()).containsEntry("publish", 1L);
        }
    }

    private static long numsubs() {
        Map<String, Long> counts = server.commandCounts();
        return counts.getOrDefault("pubsub|numsub", counts.getOrDefault("pubsub", 0L));
    }

    /** Counts of the calls, without signs of life. */
    private static Map<String, Long> callsOfScripts() {
        Map<String, Long> counts = new TreeMap<>(server.commandCounts());
        counts.keySet().removeIf(call -> call.matches("(config|info|ping|client|subscribe|pubsub).*"));
        return counts;
    }

    @Test
    void noRenewalsAreNoCommand() {
        Map<String, Long> before = clientCommands();
        assertThat(a.renewAll(List.of())).isEmpty();
        assertThat(difference(before)).isEmpty();
    }

    /** A client that is gone is passed over at once, not after its lease. */
    @Test
    void aReleasePassesOverClientsThatAreGone() {
        String holder = a.hold("n");
        try (TestClient gone = new TestClient(server.uri())) {
            gone.queue("n");
        }
        String waiting = b.queue("n");
        assertThat(a.release("n", holder)).isTrue();
        b.await("granted n " + waiting, 1_000);
    }

    @Test
    void requeuedAloneIsGrantedAtOnce() {
        String holder = a.hold("n");
        long base = a.inspect("n").base();
        ReleaseReply reply = a.releaseAndRequeue("n", holder, a.newHolder());
        assertThat(reply.wasHeld()).isTrue();
        assertThat(((Granted) reply.requeued()).base()).isGreaterThan(base);
        assertThat(a.inspect("n").remainingMillis()).isGreaterThan(20_000);
    }

    /**
     * A user may not publish: no client gets a message, but the queue keeps its order and its head finds out by its
     * poll.
     */
    @Test
    void withoutPublishTheHeadIsGrantedSilently() {
        server.command("ACL", "SETUSER", "quiet", "on", ">pw", "~*", "&*", "+@all", "-publish");
        try (TestClient quiet = new TestClient(server.uri().replace("redis://", "redis://quiet:pw@"))) {
            String holder = quiet.hold("n");
            String waiting = b.queue("n");
            ReleaseReply reply = quiet.releaseAndRequeue("n", holder, quiet.newHolder());
            assertThat(((Busy) reply.requeued()).holder()).isEqualTo(waiting);
            AcquireReply poll = b.acquire("n", waiting, 30_000, true);
            assertThat(poll).isInstanceOf(Granted.class);
            assertThat(b.messages).isEmpty();
        }
    }

    private void expectExpiry() {
        for (String key : keys()) {
            assertThat((Long) server.command("PTTL", key))
                    .as("expiry of %s", key)
                    .isBetween(1L, 86_400_000L);
        }
    }

    @SuppressWarnings("unchecked")
    private static List<String> keys() {
        return (List<String>) server.command("KEYS", "*");
    }

    private static long published() {
        return server.commandCounts().getOrDefault("publish", 0L);
    }

    /** Counts of those commands that a client sends, without the signs of life and this test's own. */
    private static Map<String, Long> clientCommands() {
        Map<String, Long> counts = new TreeMap<>(server.commandCounts());
        counts.keySet().retainAll(List.of("eval", "evalsha", "script", "script|load", "subscribe", "multi", "watch"));
        return counts;
    }

    private static Map<String, Long> difference(Map<String, Long> before) {
        Map<String, Long> difference = clientCommands();
        before.forEach((command, count) -> difference.merge(command, -count, Long::sum));
        difference.values().removeIf(count -> count == 0);
        difference.remove("subscribe"); // a sign of life
        return difference;
    }
}
