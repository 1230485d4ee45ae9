package io.holdfast.redis;

import static io.holdfast.redis.TestClient.failure;
import static io.holdfast.redis.TestClient.get;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import io.holdfast.redis.lua.LuaLockStore;
import io.holdfast.spi.AcquireReply.Busy;
import io.holdfast.spi.AcquireReply.Granted;
import io.holdfast.spi.AcquireRequest;
import io.holdfast.spi.LockStore;
import io.holdfast.spi.RenewReply.Gone;
import io.holdfast.spi.RenewReply.Renewed;
import io.holdfast.spi.RenewRequest;
import io.holdfast.spi.StoreException;
import io.holdfast.spi.StoreState;
import io.holdfast.testkit.contract.RecordingListener;
import io.holdfast.testkit.servers.Installation;
import io.holdfast.testkit.servers.RedisServer;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.AfterParameterizedClassInvocation;
import org.junit.jupiter.params.BeforeParameterizedClassInvocation;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What is special about pools on Redis: commands, keys, rights, memory. The rest is in the contract of pools. */
@ParameterizedClass(name = "{0}")
@MethodSource("io.holdfast.testkit.servers.RedisServer#available")
class PoolStoreTest {

    private static final int CAPACITY = 5;

    private static RedisServer server;
    private static Installation installation;
    private final List<LockStore> stores = new ArrayList<>();
    private TestClient a;
    private TestClient b;

    PoolStoreTest(Installation installation) {}

    @BeforeParameterizedClassInvocation
    static void startServer(Installation chosen) {
        installation = chosen;
        server = RedisServer.builder().installation(chosen).start();
    }

    @AfterParameterizedClassInvocation
    static void stopServer() {
        server.close();
    }

    @BeforeEach
    void open() {
        server.command("FLUSHALL");
        a = pools(server.uri());
        b = pools(server.uri());
    }

    @AfterEach
    void close() {
        stores.forEach(LockStore::close);
    }

    /** Returns a client of the pools of a store. */
    private TestClient pools(String uri) {
        return new TestClient(context -> {
            LockStore store = new RedisLockStoreProvider().open(URI.create(TestClient.byName(uri)), context);
            stores.add(store);
            store.listen(new RecordingListener());
            return store.pools().orElseThrow();
        });
    }

    private static AcquireRequest request(String holder, int weight, int capacity) {
        return request("n", holder, weight, capacity);
    }

    /** With so long a poll that no entry dies on a slow machine. */
    private static AcquireRequest request(String name, String holder, int weight, int capacity) {
        return new AcquireRequest(name, holder, 30_000, true, 60_000, 0).weighing(weight, capacity);
    }

    private static String permit(TestClient client) {
        return permit(client, 1, CAPACITY);
    }

    private static String permit(TestClient client, int weight, int capacity) {
        String holder = client.newHolder();
        assertThat(get(client.store.acquire(request(holder, weight, capacity)))).isInstanceOf(Granted.class);
        return holder;
    }

    private static String queued(TestClient client, int weight, int capacity) {
        String holder = client.newHolder();
        assertThat(get(client.store.acquire(request(holder, weight, capacity)))).isInstanceOf(Busy.class);
        return holder;
    }

    @Test
    void aPairCostsTwoCommands() {
        a.release("n", permit(a)); // loads the scripts
        server.command("CONFIG", "RESETSTAT");
        String holder = permit(a);
        assertThat(calls())
                .isEqualTo(Map.of(
                        "evalsha",
                        1L,
                        "time",
                        1L,
                        "zrange",
                        1L,
                        "hget",
                        1L,
                        "zcard",
                        1L,
                        "incr",
                        1L,
                        "hset",
                        1L,
                        "zadd",
                        1L,
                        "pexpireat",
                        2L));
        server.command("CONFIG", "RESETSTAT");
        assertThat(a.release("n", holder)).isTrue();
        assertThat(calls())
                .isEqualTo(Map.of(
                        "evalsha", 1L, "time", 1L, "zscore", 1L, "hget", 2L, "hdel", 1L, "zrem", 1L, "zcard", 1L));
    }

    /** The store of locks alone loads no script of a pool, and its scripts do not get longer by them. */
    @Test
    void theScriptsOfPoolsComeWithTheFirstPermit() {
        server.command("SCRIPT", "FLUSH");
        try (TestClient locks = new TestClient(server.uri())) {
            server.command("CONFIG", "RESETSTAT");
            locks.release("n", locks.hold("n"));
            assertThat(calls()).containsEntry("evalsha", 2L).doesNotContainKeys("eval", "script|load");
        }
        String holder = permit(a);
        assertThat(a.release("n", holder)).isTrue();
    }

    @Test
    void manyRenewalsAreFewCommands() {
        List<RenewRequest> requests = new ArrayList<>();
        for (int i = 0; i < 300; i++) {
            String holder = a.newHolder();
            if (i % 2 == 0) {
                get(a.store.acquire(
                        a.request("n" + i % 20, holder, 30_000, false).weighing(1, 1_000)));
            }
            requests.add(RenewRequest.extend("n" + i % 20, holder, 60_000, 0));
        }
        a.renewAll(requests.subList(0, 2)).forEach(TestClient::get); // loads the script
        server.command("CONFIG", "RESETSTAT");
        var replies = a.renewAll(requests);
        for (int i = 0; i < 300; i++) {
            assertThat(get(replies.get(i))).isInstanceOf(i % 2 == 0 ? Renewed.class : Gone.class);
        }
        assertThat(calls()).containsEntry("evalsha", 3L);
        assertThat(a.inspect("n4").remainingMillis()).isGreaterThan(50_000);
    }

    @ParameterizedTest
    @ValueSource(strings = {"p:n", "a{b}c", "a}b", "{}", "a{", "锁 mit Leerzeichen"})
    void everyKeyExpiresAndMessagesFindTheirPool(String name) {
        String holder = a.newHolder();
        get(a.store.acquire(request(name, holder, 2, 2)));
        String waiting = b.newHolder();
        get(b.store.acquire(request(name, waiting, 1, 2)));
        a.await("contended " + name + " " + holder, 1_000);
        assertThat(keys()).hasSize(4);
        expectExpiry();
        assertThat(a.renew(name, holder, 60_000, 1, true)).isInstanceOf(Renewed.class);
        expectExpiry();
        a.release(name, holder);
        b.await("granted " + name + " " + waiting, 1_000);
        assertThat(keys()).hasSize(3);
        expectExpiry();
        assertThat(b.release(name, waiting)).isTrue();
        assertThat(keys()).containsExactly("holdfast:b");
    }

    private static Set<String> keys() {
        Set<String> keys = new TreeSet<>();
        ((List<?>) requireNonNull(server.command("KEYS", "*"))).forEach(key -> keys.add((String) key));
        return keys;
    }

    private static void expectExpiry() {
        for (String key : keys()) {
            assertThat((Long) server.command("PTTL", key)).as(key).isPositive();
        }
    }

    /** The lock of the same name has its own holder and its own queue. */
    @Test
    void aPoolAndTheLockOfItsNameHaveTheirOwnMessages() {
        try (TestClient one = new TestClient(server.uri());
                TestClient two = new TestClient(server.uri())) {
            String lock = one.hold("n");
            String waiting = two.queue("n");
            String permit = permit(a, CAPACITY, CAPACITY);
            String next = queued(b, 1, CAPACITY);
            one.await("contended n " + lock, 1_000);
            a.await("contended n " + permit, 1_000);
            a.release("n", permit);
            b.await("granted n " + next, 1_000);
            one.release("n", lock);
            two.await("granted n " + waiting, 1_000);
            assertThat(a.messages).isEmpty();
            assertThat(b.messages).isEmpty();
        }
    }

    @Test
    void onlyTheModeLuaHasPools() {
        try (TestClient commands = new TestClient(server.uri() + "?mode=commands")) {
            assertThat(commands.store.pools()).isEmpty();
        }
        try (TestClient locks = new TestClient(server.uri())) {
            LockStore view = locks.store.pools().orElseThrow();
            assertThat(locks.store.pools()).containsSame(view);
            assertThat(view.pools()).isEmpty();
            assertThat(view.cards()).isEmpty();
        }
    }

    /** A script that is stopped half-way would leave a weight that nobody holds. */
    @Test
    void aUserWithoutARightOfPoolsHasLocksAndOneSentenceForPermits() {
        assumeThat(installation.isAtLeast(6, 0)).isTrue();
        server.command("ACL", "SETUSER", "locks", "on", ">pw", "~*", "&*", "+@all", "-zrem");
        try (TestClient locks = new TestClient(server.uri().replace("redis://", "redis://locks:pw@"))) {
            locks.release("n", locks.hold("n"));
        }
        TestClient permits = pools(server.uri().replace("redis://", "redis://locks:pw@"));
        StoreException error = failure(permits.store.acquire(request(permits.newHolder(), 1, CAPACITY)));
        assertThat(error)
                .hasMessage("redis://127.0.0.1:" + server.port() + "/0 does not let the user locks run all commands"
                        + " that a permit uses (grant them: ACL SETUSER locks +zrem)");
        assertThat(error.outcome()).isEqualTo(StoreException.Outcome.FATAL);
        assertThat(keys()).doesNotContain("holdfast:h:{n}", "holdfast:e:{n}");
    }

    @ParameterizedTest
    @ValueSource(strings = {"-pexpireat", "-zadd", "-@keyspace"})
    void rightsThatAreTakenAwayLeaveNothing(String right) {
        assumeThat(installation.isAtLeast(6, 2)).isTrue();
        server.command("ACL", "SETUSER", "app", "reset");
        server.command("ACL", "SETUSER", "app", "on", ">pw", "~*", "&*", "+@all");
        TestClient app = pools(server.uri().replace("redis://", "redis://app:pw@"));
        String holder = permit(b, 2, CAPACITY);
        server.command("ACL", "SETUSER", "app", right);

        // Longer than the hold that is there, so that the keys are to live longer.
        AcquireRequest longer = app.request("n", app.newHolder(), 90_000, false).weighing(1, CAPACITY);
        assertThat(failure(app.store.acquire(longer)).outcome()).isEqualTo(StoreException.Outcome.UNKNOWN);
        assertThat(b.inspect("n").used()).isEqualTo(2);
        assertThat(failure(app.store.acquire(longer.named("m"))).outcome()).isEqualTo(StoreException.Outcome.UNKNOWN);
        assertThat(b.inspect("m")).isEqualTo(StoreState.free(0));
        expectExpiry();
        assertThat(b.release("n", holder)).isTrue();
        permit(b, CAPACITY, CAPACITY);
    }

    /** As with locks: a hold continues, and a released permit is granted to the next waiter. */
    @Test
    void outOfMemoryRenewalsAndReleasesGoOn() {
        String shorter = permit(a, 2, CAPACITY);
        String longer = permit(a, 3, CAPACITY);
        assertThat(a.renew("n", longer, 90_000)).isInstanceOf(Renewed.class);
        String waiting = queued(b, 2, CAPACITY);
        server.command("CONFIG", "SET", "maxmemory", "1");
        try {
            // The first is not the last to end, so the keys live long enough.
            assertThat(a.renew("n", shorter, 60_000)).isInstanceOf(Renewed.class);
            assertThat(a.renew("n", longer, 120_000)).isInstanceOf(Renewed.class);
            assertThat(a.renew("n", longer, 110_000, 1, true)).isInstanceOf(Renewed.class);
            assertThat(get(a.store.acquire(request(shorter, 2, CAPACITY)))).isInstanceOf(Granted.class);
            assertThat(failure(b.store.acquire(b.request("m", b.newHolder(), 30_000, false))))
                    .hasMessageContaining("OOM");
            assertThat(a.release("n", shorter)).isTrue();
            b.await("granted n " + waiting, 1_000);
        } finally {
            server.command("CONFIG", "SET", "maxmemory", "0");
        }
        assertThat(a.inspect("n").used()).isEqualTo(5);
        assertThat(a.inspect("m")).isEqualTo(StoreState.free(0));
    }

    /** One run of a script grants to 64 at most; the next goes on. */
    @Test
    void veryManyThatFitAreServedInSeveralRuns() {
        String all = permit(a, 150, 150);
        String last = "";
        for (int i = 0; i < 150; i++) {
            last = queued(b, 1, 150);
        }
        assertThat(a.release("n", all)).isTrue();
        assertThat(a.inspect("n").used()).isEqualTo(64);
        assertThat(get(a.store.acquire(request(a.newHolder(), 1, 1).unqueued())))
                .isInstanceOf(Busy.class);
        assertThat(a.inspect("n").used()).isEqualTo(128);
        // The asker itself is granted in its turn, too.
        assertThat(get(b.store.acquire(request(last, 1, 150)))).isInstanceOf(Granted.class);
        assertThat(a.inspect("n"))
                .extracting(StoreState::used, StoreState::waiting)
                .containsExactly(150, 0);
    }

    /** One run of a script removes 64 that have ended at most; until the next the sum is too high. */
    @Test
    void veryManyThatEndAreRemovedInSeveralRuns() {
        List<String> ended = new ArrayList<>();
        for (int i = 0; i < 100; i++) {
            ended.add(permit(a, 1, 101));
        }
        String kept = permit(a, 1, 101);
        // As if their time had passed.
        ended.forEach(holder -> server.command("ZADD", "holdfast:e:{n}", "1", holder));
        assertThat(a.inspect("n").used()).isEqualTo(1);
        AcquireRequest most = request(b.newHolder(), 100, 101).unqueued();
        // "Ask again at once": 37 are still counted.
        assertThat(get(b.store.acquire(most)))
                .extracting(reply -> ((Busy) reply).remainingMillis())
                .isEqualTo(1L);
        assertThat(get(b.store.acquire(most))).isInstanceOf(Granted.class);
        assertThat(a.release("n", kept)).isTrue();
    }

    /** Who may not publish from a script sends the first in the queue a hint, and leaves the room free. */
    @Test
    void whereScriptsMayNotPublishTheFirstIsToldToAsk() {
        for (TestClient client : List.of(a, b)) {
            LuaLockStore view = (LuaLockStore) client.below();
            view.scripts().restrict(view.scripts().allowed().withPushes(false));
        }
        String holder = permit(a, CAPACITY, CAPACITY);
        String first = queued(b, 2, CAPACITY);
        String second = queued(b, 1, CAPACITY);
        a.await("contended n " + holder, 1_000);
        assertThat(a.release("n", holder)).isTrue();
        b.await("released n", 1_000);
        assertThat(a.inspect("n").used()).isZero();

        // Whoever asks is served in turn, after those before it.
        assertThat(get(b.store.acquire(request(second, 1, CAPACITY)))).isInstanceOf(Granted.class);
        assertThat(a.inspect("n").used()).isEqualTo(3);
        assertThat(get(b.store.acquire(request(first, 2, CAPACITY)))).isInstanceOf(Granted.class);
        assertThat(a.inspect("n").used()).isEqualTo(3);
    }

    /** Counts of the calls, without signs of life. */
    private static Map<String, Long> calls() {
        Map<String, Long> counts = new TreeMap<>(server.commandCounts());
        counts.keySet().removeIf(call -> call.matches("(config|info|ping|client|subscribe|pubsub|hello).*"));
        counts.remove("set"); // the counter, once it is behind the clock
        return counts;
    }
}
