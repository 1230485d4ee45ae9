package io.holdfast.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.assertj.core.api.Assertions.within;
import static org.awaitility.Awaitility.await;

import io.holdfast.Lease;
import io.holdfast.LockClient;
import io.holdfast.redis.commands.Ability;
import io.holdfast.redis.commands.CommandsLockStore;
import io.holdfast.redis.commands.CompareWays;
import io.holdfast.redis.server.RedisKeys;
import io.holdfast.spi.AcquireReply.Busy;
import io.holdfast.spi.AcquireReply.Granted;
import io.holdfast.spi.ReleaseRequest;
import io.holdfast.spi.RenewReply;
import io.holdfast.spi.RenewReply.Gone;
import io.holdfast.spi.RenewReply.Renewed;
import io.holdfast.spi.RenewRequest;
import io.holdfast.spi.StoreException;
import io.holdfast.testkit.OverlapDetector;
import io.holdfast.testkit.faults.FaultProxy;
import io.holdfast.testkit.servers.Installation;
import io.holdfast.testkit.servers.RedisServer;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.AfterParameterizedClassInvocation;
import org.junit.jupiter.params.BeforeParameterizedClassInvocation;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.MethodSource;

/** Mode {@code commands}, alone and beside others on the same names: what the contract does not say. */
@ParameterizedClass(name = "{0}")
@MethodSource("io.holdfast.testkit.servers.RedisServer#available")
class CommandsStoreTest {

    private static final String DELETE_IF_MINE =
            "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) else return 0 end";

    private static RedisServer server;

    private TestClient a;
    private TestClient b;

    CommandsStoreTest(Installation installation) {}

    @BeforeParameterizedClassInvocation
    static void start(Installation installation) {
        server = RedisServer.builder().installation(installation).start();
    }

    @AfterParameterizedClassInvocation
    static void stop() {
        server.close();
    }

    @BeforeEach
    void connect() {
        server.command("FLUSHALL");
        a = new TestClient(server.uri() + "?mode=commands");
        b = new TestClient(server.uri() + "?mode=commands");
    }

    @AfterEach
    void disconnect() {
        a.close();
        b.close();
    }

    @Test
    void aLockIsAStringWithTheHolderIdThatExpires() {
        String holder = a.hold("n");
        assertThat(server.command("GET", "n")).isEqualTo(holder);
        assertThat((Long) server.command("PTTL", "n")).isBetween(20_000L, 30_000L);
        assertThat(a.renew("n", holder, 60_000)).isInstanceOf(Renewed.class);
        assertThat(server.command("GET", "n")).isEqualTo(holder);
        assertThat((Long) server.command("PTTL", "n")).isBetween(50_000L, 60_000L);
        assertThat(a.release("n", holder)).isTrue();
        assertThat((Long) server.command("PTTL", "holdfast:b")).isPositive();
        assertThat(server.command("KEYS", "*")).isEqualTo(List.of("holdfast:b"));
    }

    /** Each way's cost, as in docs/stores/redis.md. */
    @Test
    void commandsOfAPair() {
        a.release("n", a.hold("n"));
        Map<String, Long> before = server.commandCounts();
        int pairs = 200;
        for (int i = 0; i < pairs; i++) {
            a.release("n", a.hold("n"));
        }
        Map<String, Double> each = new TreeMap<>();
        server.commandCounts().forEach((command, count) -> {
            double perPair = (double) (count - before.getOrDefault(command, 0L)) / pairs;
            if (perPair >= 0.05) {
                each.put(command, perPair);
            }
        });
        System.out.println("Commands of a pair at " + server.installation() + ": " + each);
        boolean watches = each.containsKey("watch");
        // A pair after a tick of 1/64 s raises the counter instead of counting. Slow pairs do that often.
        double raises = each.get("set") - 1;
        double usual = watches ? 10 + 4 * raises : 6;
        assertThat(each.values().stream().mapToDouble(Double::doubleValue).sum())
                .isCloseTo(usual, within(0.2));
    }

    @Test
    void whoWaitsIsToldOfARelease() {
        String holder = a.hold("n");
        String waiting = b.queue("n");
        a.await("contended n " + holder, 5_000);
        b.await("released n", 5_000); // once for the subscription
        assertThat(a.release("n", holder)).isTrue();
        b.await("released n", 5_000);
        assertThat(b.acquire("n", waiting, 30_000, true)).isInstanceOf(Granted.class);
    }

    /** Else a client with many threads of its own would always be the first to ask. */
    @Test
    void whoReleasesAndQueuesAgainLetsOthersGoFirst() {
        String holder = a.hold("n");
        String waiting = b.queue("n");
        b.await("released n", 5_000);
        await().until(() -> listeners("n") == 1);
        var reply = a.releaseAndRequeue("n", holder, a.newHolder());
        assertThat(reply.wasHeld()).isTrue();
        assertThat(reply.requeued()).isInstanceOf(Busy.class);
        assertThat(b.acquire("n", waiting, 30_000, true)).isInstanceOf(Granted.class);
    }

    // --- a write of unknown outcome ---

    /**
     * A renewal that was given up may be executed after a later one. It must not shorten what the later one promised.
     */
    @Test
    void aSettingThatComesLateChangesNothing() {
        String holder = a.hold("n");
        assertThat(a.renew("n", holder, 60_000, 1, true)).isInstanceOf(Renewed.class);
        String value = String.valueOf(server.command("GET", "n"));
        assertThat(value).isEqualTo(holder + "#1");
        // What a renewal from before the setting would still do: it compares with the old value.
        if (server.installation().isAtLeast(8, 1)) {
            assertThat(server.command("SET", "n", holder, "IFEQ", holder, "PX", "1000"))
                    .isNull();
        }
        assertThat(a.inspect("n").holder()).isEqualTo(holder);
        assertThat((Long) server.command("PTTL", "n")).isGreaterThan(30_000);
        assertThat(a.inspect("n").base()).isPositive();
        assertThat(a.release("n", holder)).isTrue();
    }

    /** A renewal that was given up then finds another value, so it cannot shorten a later one. */
    @Test
    void afterARenewalOfUnknownOutcomeTheValueChanges() {
        try (FaultProxy proxy = FaultProxy.to(server.host(), server.port());
                TestClient slow = new TestClient(proxy.uri() + "?mode=commands&timeout=1s")) {
            String holder = slow.hold("n");
            proxy.holdReplies(true);
            assertThat(TestClient.failure(slow.store.renew(RenewRequest.extend("n", holder, 60_000, 0)))
                            .outcome())
                    .isEqualTo(StoreException.Outcome.UNKNOWN);
            proxy.holdReplies(false);
            await().untilAsserted(
                            () -> assertThat(slow.renew("n", holder, 70_000)).isInstanceOf(Renewed.class));
            assertThat(String.valueOf(server.command("GET", "n"))).startsWith(holder + "#");
            assertThat((Long) server.command("PTTL", "n")).isGreaterThan(60_000);
            assertThat(b.inspect("n").holder()).isEqualTo(holder);
            assertThat(slow.release("n", holder)).isTrue();
        }
    }

    // --- a server that is out of memory ---

    /**
     * It refuses SET, also the native comparison's; not the native deletion; and of transactions Redis 6.2 and 7.0
     * refuse all, Valkey 9.1 none that writes nothing new. What is refused, a renewal or a release by WATCH, names the
     * cause.
     */
    @Test
    void outOfMemoryOnlyNativeReleasesGoOn() {
        String holder = a.hold("n");
        String other = a.hold("m");
        boolean deletes = ((CommandsLockStore) a.below()).choice().delete() != Ability.WATCH;
        server.command("CONFIG", "SET", "maxmemory", "1");
        try {
            renewedOrOutOfMemory(a.store.renew(RenewRequest.extend("n", holder, 60_000, 0)));
            outOfMemory(b.store.acquire(b.request("k", b.newHolder(), 30_000, false)));
            if (deletes) {
                assertThat(a.release("n", holder)).isTrue();
            } else {
                outOfMemory(a.store.release(ReleaseRequest.of("n", holder)));
            }
        } finally {
            server.command("CONFIG", "SET", "maxmemory", "0");
        }
        assertThat(a.renew("m", other, 60_000)).isInstanceOf(Renewed.class);
        assertThat(a.release("m", other)).isTrue();
        assertThat(a.release("n", holder)).isEqualTo(!deletes);
        assertThat(b.acquire("n", b.newHolder(), 30_000, false)).isInstanceOf(Granted.class);
    }

    /** The engine repeats a setting that failed under the same number. */
    @Test
    void aSettingThatWasRefusedIsMadeByItsRepetition() {
        String holder = a.hold("n");
        RenewRequest setting = RenewRequest.set("n", holder, 60_000, 1);
        server.command("CONFIG", "SET", "maxmemory", "1");
        try {
            outOfMemory(a.store.renew(setting));
        } finally {
            server.command("CONFIG", "SET", "maxmemory", "0");
        }
        assertThat(TestClient.get(a.store.renew(setting))).isInstanceOf(Renewed.class);
        assertThat((Long) server.command("PTTL", "n")).isGreaterThan(50_000);
        assertThat(a.release("n", holder)).isTrue();
    }

    /** As above; but a plain renewal that was promised in between has used up the number. */
    @Test
    void aSettingThatWasRefusedDoesNotShortenWhatWasPromisedSince() {
        String holder = a.hold("n");
        RenewRequest setting = RenewRequest.set("n", holder, 5_000, 1);
        server.command("CONFIG", "SET", "maxmemory", "1");
        try {
            outOfMemory(a.store.renew(setting));
        } finally {
            server.command("CONFIG", "SET", "maxmemory", "0");
        }
        // It is long enough already: nothing is written.
        assertThat(a.renew("n", holder, 20_000, 1, false)).isInstanceOf(Renewed.class);
        assertThat(TestClient.get(a.store.renew(setting))).isInstanceOf(Renewed.class);
        assertThat((Long) server.command("PTTL", "n")).isGreaterThan(20_000);
    }

    private static void renewedOrOutOfMemory(CompletionStage<RenewReply> renewal) {
        try {
            assertThat(TestClient.get(renewal)).isInstanceOf(Renewed.class);
        } catch (StoreException refused) {
            outOfMemory(renewal);
        }
    }

    private static void outOfMemory(CompletionStage<?> refused) {
        StoreException error = TestClient.failure(refused);
        assertThat(error.outcome()).isEqualTo(StoreException.Outcome.NOT_EXECUTED);
        assertThat(error.getMessage()).contains("OOM").contains("raise its maxmemory");
    }

    // --- tokens ---

    @Test
    void basesGrowAcrossBothModes() {
        try (TestClient lua = new TestClient(server.uri() + "?mode=lua")) {
            long last = 0;
            for (int i = 0; i < 60; i++) {
                TestClient client = i % 3 == 0 ? lua : i % 3 == 1 ? a : b;
                String holder = client.newHolder();
                long base = ((Granted) client.acquire("n", holder, 30_000, false)).base();
                assertThat(base).isGreaterThan(last);
                last = base;
                assertThat(client.release("n", holder)).isTrue();
            }
        }
    }

    /** As after the server's clock went back: neither side's last base is lost on the other. */
    @Test
    void basesGrowAcrossBothModesWhenTheClockIsBehind() {
        try (TestClient lua = new TestClient(server.uri() + "?mode=lua")) {
            long ahead = 1L << 48;
            server.command("SET", "holdfast:b", Long.toString(ahead));
            long last = ahead;
            for (int i = 0; i < 40; i++) {
                TestClient client = i % 2 == 0 ? a : lua;
                String holder = client.newHolder();
                long base = ((Granted) client.acquire("n", holder, 30_000, false)).base();
                assertThat(base).isGreaterThan(last);
                last = base;
                client.release("n", holder);
            }
            assertThat((Long) server.command("PTTL", "holdfast:b")).isPositive();
        }
    }

    // --- half of the fleet with scripts, half without ---

    @Test
    void bothModesExcludeEachOther() {
        try (TestClient lua = new TestClient(server.uri() + "?mode=lua")) {
            String holder = lua.hold("n");
            Busy busy = (Busy) a.acquire("n", a.newHolder(), 30_000, true);
            assertThat(busy.remainingMillis()).isBetween(20_000L, 30_000L);
            assertThat(a.inspect("n").holder()).isEqualTo(holder);
            assertThat(a.inspect("n").base()).isPositive();
            String other = a.newHolder();
            assertThat(a.renew("n", other, 30_000)).isEqualTo(new Gone());
            assertThat(a.renew("n", holder, 30_000)).isEqualTo(new Gone());
            assertThat(a.release("n", holder)).isFalse();
            assertThat(a.abandon("n", other)).isFalse();
            assertThat(lua.release("n", holder)).isTrue();
            a.await("released n", 5_000);

            String mine = a.hold("n");
            Busy held = (Busy) lua.acquire("n", lua.newHolder(), 30_000, true);
            assertThat(held.holder()).isEqualTo(mine);
            assertThat(held.remainingMillis()).isBetween(20_000L, 30_000L);
            a.await("contended n " + mine, 5_000);
            assertThat(lua.inspect("n").holder()).isEqualTo(mine);
            assertThat(lua.renew("n", mine, 30_000)).isEqualTo(new Gone());
            assertThat(lua.release("n", mine)).isFalse();
            assertThat(lua.abandon("n", mine)).isFalse();
            await().until(() -> listeners("n") >= 1);
            lua.messages.clear();
            assertThat(a.release("n", mine)).isTrue();
            lua.await("released n", 5_000);
        }
    }

    /**
     * The key changes its type all the time, also between a command that is refused for it and the question which it
     * is.
     */
    @Test
    void bothModesPassALockToAndFroWithoutAnError() throws Exception {
        OverlapDetector detector = new OverlapDetector("n");
        try (LockClient lua = LockClient.connect(server.uri() + "?mode=lua");
                LockClient commands = LockClient.connect(server.uri() + "?mode=commands")) {
            ExecutorService threads = Executors.newFixedThreadPool(4);
            try {
                long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(3);
                List<Future<Integer>> counts = new ArrayList<>();
                for (LockClient client : List.of(lua, commands, lua, commands)) {
                    counts.add(threads.submit(() -> locked(client, detector, end)));
                }
                for (Future<Integer> count : counts) {
                    assertThat(count.get(30, TimeUnit.SECONDS)).isPositive();
                }
            } finally {
                threads.shutdownNow();
            }
        }
        detector.assertClean();
    }

    private static int locked(LockClient client, OverlapDetector detector, long endNanos) throws InterruptedException {
        int count = 0;
        for (; System.nanoTime() - endNanos < 0; count++) {
            try (Lease lease = client.acquire("n")) {
                detector.enter(lease.fencingToken());
                Thread.sleep(1);
                detector.leave();
            }
            Thread.sleep(2);
        }
        return count;
    }

    @Test
    void eitherModeEndsTheOthersHoldByForce() {
        try (TestClient lua = new TestClient(server.uri() + "?mode=lua")) {
            lua.hold("n");
            assertThat(TestClient.get(a.store.forceRelease("n", null)).isEnded())
                    .isTrue();
            String mine = a.hold("n");
            assertThat(TestClient.get(lua.store.forceRelease("n", null)).isEnded())
                    .isTrue();
            assertThat(a.renew("n", mine, 30_000)).isEqualTo(new Gone());
            assertThat(a.release("n", mine)).isFalse();
        }
    }

    @Test
    void aKeyThatIsNoLockIsAnError() {
        server.command("SADD", "set", "x");
        StoreException error = TestClient.failure(a.store.acquire(a.request("set", a.newHolder(), 1_000, false)));
        assertThat(error.outcome()).isEqualTo(StoreException.Outcome.FATAL);
        assertThat(error.getMessage()).contains("is of type set");
        assertThat(TestClient.failure(a.store.forceRelease("set", null)).getMessage())
                .contains("is a set that is no lock, so it was not deleted");
        assertThat(a.inspect("set").holder()).isEqualTo("a set that is no lock");
    }

    // --- hand-written locks ---

    @Test
    void handWrittenLocksAndOursExcludeEachOther() {
        assertThat(server.command("SET", "n", "their-value", "NX", "PX", "30000"))
                .isEqualTo("OK");
        Busy busy = (Busy) a.acquire("n", a.newHolder(), 30_000, false);
        assertThat(busy.holder()).isEqualTo("a string of 11 bytes with an expiry");
        assertThat(a.abandon("n", a.newHolder())).isFalse();
        assertThat(a.renew("n", a.newHolder(), 30_000)).isEqualTo(new Gone());
        assertThat(server.command("EVAL", DELETE_IF_MINE, "1", "n", "their-value"))
                .isEqualTo(1L);

        String holder = a.hold("n");
        assertThat(server.command("SET", "n", "their-value", "NX", "PX", "30000"))
                .isNull();
        assertThat(server.command("EVAL", DELETE_IF_MINE, "1", "n", "their-value"))
                .isEqualTo(0L);
        assertThat(a.release("n", holder)).isTrue();
        assertThat(server.command("SET", "n", "their-value", "NX", "PX", "30000"))
                .isEqualTo("OK");
    }

    // --- which commands ---

    @Test
    void theChoiceIsWhatTheServerOffers() {
        Installation it = server.installation();
        boolean valkey = it.label().toLowerCase(Locale.ROOT).contains("valkey");
        String choice = String.valueOf(choice(server.uri()));
        assertThat(choice)
                .contains(
                        valkey && it.isAtLeast(9, 0)
                                ? "releases by DELIFEQ"
                                : !valkey && it.isAtLeast(8, 4) ? "releases by DELEX" : "releases by WATCH/MULTI")
                .contains(
                        (valkey && it.isAtLeast(8, 1)) || it.isAtLeast(8, 4)
                                ? "renews by SET IFEQ"
                                : "renews by WATCH/MULTI");
    }

    /** What an ACL forbids is not chosen, whatever COMMAND INFO says. */
    @Test
    void whatIsForbiddenIsNotChosen() {
        server.command("ACL", "SETUSER", "plain", "on", ">pw", "~*", "&*", "+@all", "-command");
        String uri = "redis://plain:pw@127.0.0.1:" + server.port();
        assertThat(choice(uri)).isEqualTo(choice(server.uri()));
        if (choice(server.uri()).delete() != Ability.WATCH) {
            server.command("ACL", "SETUSER", "plain", nativeDelete());
            assertThat(choice(uri).delete()).isEqualTo(Ability.WATCH);
        }
        server.command("ACL", "SETUSER", "plain", "resetchannels");
        assertThat(choice(uri).has(Ability.PUBLISH)).isFalse();
        try (TestClient deaf = new TestClient(uri + "?mode=commands")) {
            String holder = deaf.hold("n");
            String waiting = deaf.queue("n");
            assertThat(deaf.release("n", holder)).isTrue();
            assertThat(deaf.acquire("n", waiting, 30_000, true)).isInstanceOf(Granted.class);
        }
    }

    @Test
    void whereNothingIsSafeTheStoreIsNotOpened() {
        server.command(
                "ACL", "SETUSER", "bare", "on", ">pw", "~*", "&*", "+@all", "-@scripting", "-watch", "-multi", "-exec");
        if (choice(server.uri()).delete() != Ability.WATCH) {
            server.command("ACL", "SETUSER", "bare", nativeDelete());
        }
        StoreException error = catchThrowableOfType(
                StoreException.class, () -> new TestClient("redis://bare:pw@127.0.0.1:" + server.port()).close());
        assertThat(error)
                .hasMessage(
                        "redis://127.0.0.1:" + server.port() + "/0 offers the user bare nothing that releases a lock"
                                + " safely: no scripts, no DELIFEQ or DELEX with SET IFEQ, and no WATCH with MULTI and EXEC (allow"
                                + " one of these, or use Valkey 9.0 or Redis 8.4 or newer)");
        assertThat(error.outcome()).isEqualTo(StoreException.Outcome.FATAL);
        assertThat((List<?>) server.command("KEYS", "*probe*")).isEmpty();
    }

    @Test
    void missingRightsAreNamed() {
        server.command("ACL", "SETUSER", "poor", "on", ">pw", "~*", "&*", "+@all", "-pttl", "-@scripting");
        assertThat(catchThrowableOfType(
                        StoreException.class,
                        () -> new TestClient("redis://poor:pw@127.0.0.1:" + server.port()).close()))
                .hasMessage("redis://127.0.0.1:" + server.port() + "/0 does not let the user poor run all commands that"
                        + " the mode commands uses (grant them: ACL SETUSER poor +pttl)");
    }

    private static String nativeDelete() {
        return choice(server.uri()).delete() == Ability.DELIFEQ ? "-delifeq" : "-delex";
    }

    private static CompareWays.Choice choice(String uri) {
        try (TestClient client = new TestClient(uri + "?mode=commands")) {
            return ((CommandsLockStore) client.below()).choice();
        }
    }

    private static long listeners(String name) {
        List<?> reply = (List<?>) server.command("PUBSUB", "NUMSUB", RedisKeys.redissonChannel(name));
        return (Long) reply.get(1);
    }
}
