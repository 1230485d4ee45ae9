package io.holdfast.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.holdfast.Lease;
import io.holdfast.LockClient;
import io.holdfast.redis.lua.Allowed;
import io.holdfast.redis.lua.LuaLockStore;
import io.holdfast.redis.lua.LuaScript;
import io.holdfast.redis.lua.ScriptHead;
import io.holdfast.redis.messages.Publishing;
import io.holdfast.spi.AcquireReply.Busy;
import io.holdfast.spi.AcquireReply.Granted;
import io.holdfast.spi.RenewReply.Gone;
import io.holdfast.spi.RenewReply.Renewed;
import io.holdfast.spi.RenewRequest;
import io.holdfast.spi.StoreState;
import io.holdfast.testkit.OverlapDetector;
import io.holdfast.testkit.servers.RedisCluster;
import io.holdfast.testkit.servers.RedisServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Servers that forbid one thing or another: as safe, and slower. */
@Tag("deep") // quick: LeastRightsTest and PublishOnlyTest
@Timeout(60)
class RestrictedServiceTest {

    /** Arguments for a server that does not know these commands. */
    static String[] without(String... commands) {
        List<String> args = new ArrayList<>();
        for (String command : commands) {
            args.addAll(List.of("--rename-command", command, ""));
        }
        return args.toArray(new String[0]);
    }

    @Test
    void nothingIsRestrictedOnAnOrdinaryServer() {
        try (RedisServer server = RedisServer.start();
                TestClient client = new TestClient(server.uri())) {
            assertThat(allowed(client)).isEqualTo(Allowed.ALL);
        }
    }

    @Test
    void withoutEvalshaScriptsAreSentAsText() {
        try (RedisServer server =
                        RedisServer.builder().args(without("EVALSHA", "SCRIPT")).start();
                TestClient one = new TestClient(server.uri());
                TestClient two = new TestClient(server.uri())) {
            assertThat(allowed(one)).isEqualTo(new Allowed(false, true, true));
            String holder = one.hold("n");
            String next = two.queue("n");
            assertThat(one.release("n", holder)).isTrue();
            two.await("granted n " + next, 1_000);
        }
    }

    @Test
    void withoutPublishALockIsLeftFreeAndWaitersPoll() throws Exception {
        try (RedisServer server = RedisServer.builder().args(without("PUBLISH")).start()) {
            try (TestClient one = new TestClient(server.uri());
                    TestClient two = new TestClient(server.uri())) {
                assertThat(allowed(one)).isEqualTo(new Allowed(true, false, true));
                String holder = one.hold("n");
                String waiting = two.queue("n");
                assertThat(one.release("n", holder)).isTrue();
                assertThat(one.inspect("n")).isEqualTo(StoreState.free(1));
                assertThat(two.acquire("n", waiting, 30_000, true)).isInstanceOf(Granted.class);
                assertThat(one.inspect("n").waiting()).isZero();
            }
            takeTurns(server, 2);
        }
    }

    /** Where scripts may not publish but clients may. */
    @Test
    void aReleaseSendsAHintAfterIt() throws Exception {
        try (RedisServer server = RedisServer.start();
                TestClient one = new TestClient(server.uri());
                TestClient two = new TestClient(server.uri())) {
            restrict(one, new Allowed(true, false, true));
            restrict(two, new Allowed(true, false, true));
            String holder = one.hold("n");
            String waiting = two.queue("n");
            one.await("contended n " + holder, 1_000);
            assertThat(one.release("n", holder)).isTrue();
            two.await("released n", 1_000);
            assertThat(two.acquire("n", waiting, 30_000, true)).isInstanceOf(Granted.class);

            // And when it queues again in the same step.
            String third = one.queue("n");
            two.await("contended n " + waiting, 1_000);
            assertThat(two.releaseAndRequeue("n", waiting, two.newHolder()).requeued())
                    .isInstanceOf(Busy.class);
            one.await("released n", 1_000);
            assertThat(one.acquire("n", third, 30_000, true)).isInstanceOf(Granted.class);

            // And by force.
            assertThat(TestClient.get(two.store.forceRelease("n", null)).isEnded())
                    .isTrue();
            two.await("released n", 1_000);
        }
    }

    /** A proxy refuses nothing there: it sends the script to where the first key is, and the others are not. */
    @Test
    void behindAProxyThatGoesByTheFirstKeyEachLockHasACommandOfItsOwn() throws Exception {
        try (RedisServer one = RedisServer.start();
                RedisServer two = RedisServer.start();
                FirstKeyProxy proxy = FirstKeyProxy.start(one, two);
                TestClient client = new TestClient(proxy.uri())) {
            List<RenewRequest> requests = new ArrayList<>();
            for (int i = 0; i < 20; i++) {
                requests.add(RenewRequest.extend("n" + i, client.hold("n" + i), 60_000, 0));
            }
            Allowed found = allowed(client);
            restrict(client, Allowed.ALL);
            assertThat(client.renewAll(requests))
                    .as("what would happen otherwise")
                    .anyMatch(renewed -> TestClient.get(renewed) instanceof Gone);
            restrict(client, found);
            assertThat(found).isEqualTo(new Allowed(true, true, false));
            assertThat(client.renewAll(requests)).allMatch(renewed -> TestClient.get(renewed) instanceof Renewed);
            assertThat(client.store.canAcquireAll(List.of("a", "b"))).isFalse();
        }
    }

    /** What could not be tried is not allowed: it may belong to a server that is away for now. */
    @Test
    void behindSuchAProxyAServerThatIsAwayProvesNothing() throws Exception {
        try (RedisServer one = RedisServer.start();
                RedisServer two = RedisServer.start();
                FirstKeyProxy proxy = FirstKeyProxy.start(one, two)) {
            proxy.refusal = words -> isTrial(words) && proxy.serverOf(words.get(3)) == 1 ? "no upstream host" : null;
            try (TestClient client = new TestClient(proxy.uri())) {
                assertThat(allowed(client)).isEqualTo(new Allowed(true, true, false));
            }
        }
    }

    /** Full servers refuse all trial holds. That does not show that there is only one server. */
    @Test
    void behindSuchAProxyFullServersProveNothing() throws Exception {
        try (RedisServer one = RedisServer.start();
                RedisServer two = RedisServer.start();
                FirstKeyProxy proxy = FirstKeyProxy.start(one, two)) {
            proxy.refusal = words -> isTrial(words) ? OOM : null;
            try (TestClient client = new TestClient(proxy.uri())) {
                assertThat(allowed(client)).isEqualTo(new Allowed(true, true, false));
            }
        }
    }

    /**
     * A client that starts on a nearly full server, or during a failover, cannot try everything. It must still use the
     * counter that all others use, or tokens would go back.
     */
    @ParameterizedTest
    @ValueSource(strings = {"a server with memory for half of the trial", "a failover that forgets half of it"})
    void aTrialThatFailedDoesNotChangeTheCounter(String why) throws Exception {
        try (RedisServer server = RedisServer.start();
                FirstKeyProxy proxy = FirstKeyProxy.start(server);
                TestClient ordinary = new TestClient(server.uri())) {
            AtomicInteger trials = new AtomicInteger();
            proxy.refusal = words -> {
                if (isTrial(words)) {
                    return trials.incrementAndGet() % 2 == 0 && why.contains("memory") ? OOM : null;
                }
                if (words.get(0).startsWith("EVAL") && words.get(2).equals("128") && why.contains("failover")) {
                    for (int i = 0; i < 64; i += 2) {
                        server.command("DEL", words.get(3 + i));
                    }
                }
                return null;
            };
            try (TestClient other = new TestClient(proxy.uri())) {
                assertThat(trials.get()).isEqualTo(64);
                assertThat(allowed(other).batches()).isFalse();
                long last = 0;
                for (int i = 0; i < 20; i++) {
                    // Many holds on one side, so that its counter is ahead of the clock.
                    for (int j = 0; j < (i % 2 == 0 ? 1 : 50); j++) {
                        TestClient client = i % 2 == 0 ? other : ordinary;
                        String holder = client.newHolder();
                        long base = ((Granted) client.acquire("n", holder, 30_000, false)).base();
                        assertThat(base).isGreaterThan(last);
                        last = base;
                        client.release("n", holder);
                    }
                }
                assertThat((List<?>) server.command("KEYS", "holdfast:b*")).hasToString("[holdfast:b]");
            }
        }
    }

    private static final String OOM = "OOM command not allowed when used memory > 'maxmemory'.";

    /** Whether a command makes a hold for the trial of renewals. */
    private static boolean isTrial(List<String> words) {
        return words.size() == 6
                && words.get(0).startsWith("EVAL")
                && words.get(3).startsWith("holdfast:probe:")
                && words.get(4).equals("probe");
    }

    /** A client that died at the head of the queue does not delay a client that asks. */
    @Test
    void theDeadAtTheHeadOfTheQueueHoldNobodyUp() throws Exception {
        try (RedisServer server = RedisServer.builder().args(without("PUBLISH")).start();
                TestClient one = new TestClient(server.uri());
                TestClient two = new TestClient(server.uri())) {
            String holder = one.hold("n");
            try (TestClient dead = new TestClient(server.uri())) {
                dead.queue("n");
            }
            String waiting = two.queue("n");
            assertThat(one.release("n", holder)).isTrue();
            assertThat(two.acquire("n", waiting, 30_000, true)).isInstanceOf(Granted.class);
        }
    }

    @Test
    void withoutAnyMessagesWaitersPoll() throws Exception {
        try (RedisServer server = RedisServer.builder()
                .args(without("PUBLISH", "SUBSCRIBE", "PUBSUB"))
                .start()) {
            takeTurns(server, 2);
        }
    }

    /** As a proxy in front of a cluster: it serves all slots, but no script with keys of two. */
    @Test
    void whereAScriptMayNotUseTwoSlotsEachHoldIsRenewedByItself() {
        try (RedisCluster cluster =
                        RedisCluster.builder().masters(1).replicasEach(0).start();
                TestClient client = new TestClient(cluster.nodes().get(0).uri())) {
            assertThat(allowed(client)).isEqualTo(new Allowed(true, true, false));
            List<RenewRequest> requests = new ArrayList<>();
            for (int i = 0; i < 5; i++) {
                requests.add(RenewRequest.extend("n" + i, client.hold("n" + i), 60_000, 0));
            }
            client.renewAll(requests).forEach(TestClient::get);
            for (int i = 0; i < 5; i++) {
                assertThat(client.inspect("n" + i).remainingMillis()).isGreaterThan(50_000);
            }
            // The counter is one of the slot's, also for people.
            assertThat(TestClient.get(client.store.diagnose("n1")))
                    .filteredOn(finding -> finding.text().startsWith("counter: holdfast:b:{"))
                    .singleElement()
                    .satisfies(finding -> assertThat(finding.text()).contains("string, expires in"));
        }
    }

    /** Some services read a script before they run it, and want each key written out and no PUBLISH. */
    @Test
    void whatIsSentToARestrictedServiceStandsAStaticCheck() {
        Pattern call = Pattern.compile("redis\\.p?call\\('(\\w+)'(?:, *([^,)]+(?:\\[[^]]*])?))?");
        List<LuaScript> scripts = new ArrayList<>(LuaScript.OF_STORES);
        scripts.addAll(LuaScript.OF_POOLS);
        // Probed, and not used where it is refused.
        scripts.removeAll(List.of(LuaScript.RENEW, LuaScript.POOL_RENEW, LuaScript.ACQUIRE_ALL));
        for (LuaScript script : scripts) {
            String text = script.text(new ScriptHead(Publishing.PLAIN, "holdfast:c:", false), false);
            assertThat(text).doesNotContain("PUBLISH").doesNotContain("PUBSUB").doesNotContain("unpack");
            assertThat(Pattern.compile("redis\\.p?call\\([^']").matcher(text).find())
                    .as("computed command in %s", script)
                    .isFalse();
            assertThat(Pattern.compile("(?<![.\\w])p?call\\(").matcher(text).find())
                    .as("a call of %s that the check would not see", script)
                    .isFalse();
            Matcher matcher = call.matcher(text);
            int calls = 0;
            while (matcher.find()) {
                calls++;
                if (!matcher.group(1).equals("TIME")) {
                    assertThat(matcher.group(2))
                            .as("%s: %s", script, matcher.group())
                            .matches("KEYS\\[\\d]");
                }
            }
            assertThat(calls).isPositive();
        }
    }

    /** Two clients pass a lock to and fro, in turn, without a message ever reaching anybody. */
    private static void takeTurns(RedisServer server, int rounds) throws Exception {
        OverlapDetector detector = new OverlapDetector("turns");
        try (LockClient one = client(server);
                LockClient two = client(server)) {
            for (int i = 0; i < rounds; i++) {
                Lease held = one.acquire("turns");
                detector.enter(held.fencingToken());
                CompletableFuture<Lease> waiting = two.acquireAsync("turns").toCompletableFuture();
                await().until(() -> one.inspect("turns").waitingClients() == 1);
                detector.leave();
                held.release();
                Lease next = waiting.get(10, TimeUnit.SECONDS);
                detector.enter(next.fencingToken());
                detector.leave();
                next.release();
            }
        }
        detector.assertClean();
        assertThat(detector.entries()).isEqualTo(2L * rounds);
    }

    private static LockClient client(RedisServer server) {
        return LockClient.builder()
                .uri(server.uri())
                .leaseTime(Duration.ofSeconds(5))
                .build();
    }

    private static Allowed allowed(TestClient client) {
        return ((LuaLockStore) client.below()).scripts().allowed();
    }

    private static void restrict(TestClient client, Allowed allowed) {
        ((LuaLockStore) client.below()).scripts().restrict(allowed);
    }
}
