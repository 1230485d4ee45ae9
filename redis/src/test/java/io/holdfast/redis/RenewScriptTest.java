package io.holdfast.redis;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.holdfast.redis.lua.LuaScript;
import io.holdfast.redis.lua.ScriptHead;
import io.holdfast.redis.messages.Publishing;
import io.holdfast.spi.AcquireReply.Granted;
import io.holdfast.spi.RenewReply.Renewed;
import io.holdfast.spi.RenewReply.Superseded;
import io.holdfast.spi.RenewRequest;
import io.holdfast.testkit.servers.Installation;
import io.holdfast.testkit.servers.RedisServer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Renewals and settings of a length, in every order in which they can be executed. */
class RenewScriptTest {

    private static RedisServer server;
    private TestClient client;
    private String holder;

    @BeforeAll
    static void startServer() {
        server = RedisServer.start();
    }

    @AfterAll
    static void stopServer() {
        server.close();
    }

    @BeforeEach
    void hold() {
        server.command("FLUSHALL");
        client = new TestClient(server.uri());
        holder = client.hold("n"); // 30 s
    }

    @AfterEach
    void close() {
        client.close();
    }

    @Test
    void aPlainRenewalOnlyLengthens() {
        assertThat(client.renew("n", holder, 5_000)).isInstanceOf(Renewed.class);
        assertRemaining(30_000);
        assertThat(client.renew("n", holder, 60_000)).isInstanceOf(Renewed.class);
        assertRemaining(60_000);
    }

    @Test
    void anExactOneAlsoShortens() {
        assertThat(client.renew("n", holder, 5_000, 1, true)).isInstanceOf(Renewed.class);
        assertRemaining(5_000);
        assertThat(client.renew("n", holder, 90_000, 2, true)).isInstanceOf(Renewed.class);
        assertRemaining(90_000);
    }

    @Test
    void lateOnesAreSuperseded() {
        client.renew("n", holder, 5_000, 2, true);
        assertThat(client.renew("n", holder, 60_000, 1, true)).isEqualTo(new Superseded());
        assertThat(client.renew("n", holder, 60_000, 1, false)).isEqualTo(new Superseded());
        assertThat(client.renew("n", holder, 60_000, 0, false)).isEqualTo(new Superseded());
        assertRemaining(5_000);
        assertThat(client.renew("n", holder, 60_000, 2, false)).isInstanceOf(Renewed.class);
        assertRemaining(60_000);
    }

    /** Its sender may count from the second sending: so it must not hear "for at least that long". */
    @Test
    void anExactOneAgainChangesNothingAndPromisesNothing() throws Exception {
        client.renew("n", holder, 5_000, 1, true);
        Thread.sleep(50);
        long before = client.inspect("n").remainingMillis();
        assertThat(client.renew("n", holder, 5_000, 1, true)).isEqualTo(new Superseded());
        assertThat(client.inspect("n").remainingMillis()).isLessThanOrEqualTo(before);
    }

    /** Lengthened since then: the repetition must not shorten it again. */
    @Test
    void anExactOneAgainAfterARenewalDoesNotShorten() {
        client.renew("n", holder, 5_000, 1, true);
        client.renew("n", holder, 60_000, 1, false);
        assertThat(client.renew("n", holder, 5_000, 1, true)).isInstanceOf(Renewed.class);
        assertRemaining(60_000);
    }

    /** Sent before the renewal, executed after it: it would take back what the renewal's sender was promised. */
    @Test
    void aSettingOvertakenByALaterRenewalIsNotMadeUpFor() {
        client.renew("n", holder, 60_000, 1, false);
        client.renew("n", holder, 5_000, 1, true);
        assertRemaining(60_000);
    }

    @Test
    void aLateAcquireDoesNotUndoASetting() {
        client.renew("n", holder, 5_000, 1, true);
        assertThat(client.acquire("n", holder, 30_000, true)).isInstanceOf(Granted.class);
        assertRemaining(5_000);
    }

    @Test
    void theSettingsAreThoseOfOneHold() {
        client.renew("n", holder, 5_000, 7, true);
        client.release("n", holder);
        holder = client.hold("n");
        assertThat(client.renew("n", holder, 9_000, 1, true)).isInstanceOf(Renewed.class);
        assertRemaining(9_000);
    }

    /** The script sees by the length of the value whether there was a setting. */
    @ParameterizedTest
    @ValueSource(longs = {1, (1L << 49) - 1})
    void settingsAreSeenBesideTheShortestAndTheLongestBase(long base) {
        server.command("HSET", "n", holder, "b" + base);
        assertThat(client.renew("n", holder, 60_000)).isInstanceOf(Renewed.class);
        assertRemaining(60_000);
        client.renew("n", holder, 5_000, 1, true);
        assertThat(client.renew("n", holder, 60_000, 0, false)).isEqualTo(new Superseded());
        assertRemaining(5_000);
        client.renew("n", holder, 6_000, 2, true);
        assertThat(client.renew("n", holder, 60_000, 1, false)).isEqualTo(new Superseded());
        assertThat(client.inspect("n").base()).isEqualTo(base);
    }

    /** The server pays for each call, and for each number that a script passes. */
    @ParameterizedTest
    @MethodSource("io.holdfast.testkit.servers.RedisServer#available")
    void aPlainRenewalCostsTwoCalls(Installation installation) {
        assumeTrue(installation.isAtLeast(7, 0), "PEXPIREAT has no GT before 7.0");
        try (RedisServer recent =
                        RedisServer.builder().installation(installation).start();
                TestClient holding = new TestClient(recent.uri())) {
            List<RenewRequest> requests = new ArrayList<>();
            for (int i = 0; i < 100; i++) {
                requests.add(RenewRequest.extend("n" + i, holding.hold("n" + i), 60_000, 0)
                        .counted(false));
            }
            recent.command("CONFIG", "RESETSTAT");
            holding.renewAll(requests)
                    .forEach(renewal -> assertThat(TestClient.get(renewal)).isEqualTo(new Renewed(0)));
            Map<String, Long> calls = recent.commandCounts();
            calls.keySet().retainAll(Set.of("time", "hget", "hstrlen", "pttl", "pexpire", "pexpireat", "evalsha"));
            assertThat(calls).isEqualTo(Map.of("evalsha", 1L, "time", 1L, "hstrlen", 100L, "pexpireat", 100L));
        }
    }

    /**
     * Another program's PERSIST takes the expiry away. Without a renewal that sets it again, the lock would stay if its
     * holder died.
     */
    @ParameterizedTest
    @MethodSource("io.holdfast.testkit.servers.RedisServer#available")
    void aKeyThatLostItsExpiryGetsItBack(Installation installation) {
        try (RedisServer each = RedisServer.builder().installation(installation).start()) {
            for (String mode : List.of("lua", "commands")) {
                try (TestClient holding = new TestClient(each.uri() + "?mode=" + mode)) {
                    String one = holding.hold("one");
                    each.command("PERSIST", "one");
                    assertThat(holding.renew("one", one, 30_000)).isInstanceOf(Renewed.class);
                    assertExpires(each, "one", mode);

                    String set = holding.hold("set");
                    holding.renew("set", set, 20_000, 1, true);
                    each.command("PERSIST", "set");
                    holding.renew("set", set, 20_000, 1, true);
                    assertThat(holding.renew("set", set, 20_000, 1, false)).isInstanceOf(Renewed.class);
                    assertExpires(each, "set", mode + ", after a setting");

                    List<RenewRequest> batch = new ArrayList<>();
                    for (String name : List.of("a", "b", "c")) {
                        batch.add(RenewRequest.extend(name, holding.hold(name), 30_000, 0));
                        each.command("PERSIST", name);
                    }
                    holding.renewAll(batch)
                            .forEach(reply -> assertThat(TestClient.get(reply)).isInstanceOf(Renewed.class));
                    for (RenewRequest request : batch) {
                        assertExpires(each, request.name(), mode + ", in a batch");
                        holding.release(request.name(), request.holderId());
                    }
                    holding.release("one", one);
                    holding.release("set", set);
                }
            }
        }
    }

    /** With {@code minReplicas}, an acquire for an id that holds writes in any case. */
    @Test
    void anAcquireDoesNotEndAHoldThatLostItsExpiry() {
        client.renew("n", holder, 20_000, 1, true);
        server.command("PERSIST", "n");
        String text = LuaScript.ACQUIRE.text(new ScriptHead(Publishing.PLAIN, "holdfast:c:", false), true);
        Object reply =
                server.command("EVAL", text, "3", "n", "holdfast:q:{n}", "holdfast:b", holder, "30000", "0", "", "w");
        assertThat(((List<?>) requireNonNull(reply)).get(0)).isEqualTo(1L);
        assertExpires(server, "n", "an acquire");
    }

    private static void assertExpires(RedisServer server, String key, String when) {
        assertThat((Long) server.command("PTTL", key))
                .as(when + ": remaining ms")
                .isBetween(10_000L, 30_000L);
    }

    private void assertRemaining(long millis) {
        assertThat(client.inspect("n").remainingMillis()).isBetween(millis - 2_000, millis);
    }
}
