package io.holdfast.redis;

import static io.holdfast.redis.TestClient.failure;
import static io.holdfast.spi.StoreException.Outcome.UNKNOWN;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assumptions.assumeThat;
import static org.awaitility.Awaitility.await;

import io.holdfast.Lease;
import io.holdfast.LockClient;
import io.holdfast.LockStoreException;
import io.holdfast.quorum.QuorumMember;
import io.holdfast.quorum.QuorumMember.Take;
import io.holdfast.redis.connect.SharedThreads;
import io.holdfast.redis.server.RedisUris;
import io.holdfast.spi.AcquireRequest;
import io.holdfast.spi.ReleaseRequest;
import io.holdfast.spi.RenewRequest;
import io.holdfast.spi.StoreContext;
import io.holdfast.spi.StoreException;
import io.holdfast.spi.TimeSource;
import io.holdfast.testkit.servers.Installation;
import io.holdfast.testkit.servers.RedisServer;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.MethodSource;

/** The rights of the store's user change while it runs: no key stays without expiry, and no error says otherwise. */
@ParameterizedClass(name = "{0}")
@MethodSource("io.holdfast.testkit.servers.RedisServer#available")
class RightsTakenAwayTest {

    private final Installation installation;
    private RedisServer server;
    private TestClient app;
    private TestClient admin;

    RightsTakenAwayTest(Installation installation) {
        this.installation = installation;
    }

    @BeforeEach
    void start() {
        assumeThat(installation.isAtLeast(6, 2)).isTrue();
        server = RedisServer.builder().installation(installation).start();
        rights("on", ">pw", "~*", "&*", "+@all");
        app = new TestClient(uri());
        admin = new TestClient(server.uri());
        // What is loaded and learned at the first use is.
        app.release("warm", app.hold("warm"));
    }

    @AfterEach
    void stop() {
        if (server != null) {
            app.close();
            admin.close();
            server.close();
        }
    }

    private String uri() {
        return server.uri().replace("://", "://app:pw@");
    }

    private void rights(String... rules) {
        List<String> command = new ArrayList<>(List.of("ACL", "SETUSER", "app"));
        command.addAll(List.of(rules));
        server.command(command.toArray(new String[0]));
    }

    private List<String> keysWithoutExpiry() {
        List<String> endless = new ArrayList<>();
        for (Object key : (List<?>) requireNonNull(server.command("KEYS", "*"))) {
            if (((Long) requireNonNull(server.command("PTTL", (String) key))) == -1) {
                endless.add((String) key);
            }
        }
        return endless;
    }

    private void assertUndone(StoreException error, String... names) {
        assertThat(keysWithoutExpiry()).isEmpty();
        assertThat(error.outcome()).isEqualTo(UNKNOWN);
        assertThat(error).hasMessageStartingWith("redis://127.0.0.1:" + server.port() + "/0 refused: ");
        for (String name : names) {
            assertThat(admin.inspect(name).holder()).as(name).isNull();
        }
    }

    @Test
    void anAcquire() {
        rights("-pexpire");

        assertUndone(failure(app.store.acquire(app.request("n", app.newHolder(), 30_000, false))), "n");
        assertUndone(failure(app.store.acquire(app.request("n", app.newHolder(), 30_000, true))), "n");
        admin.hold("n");
    }

    @Test
    void allOfWhatTheScriptsDoToKeysInGeneral() {
        // Here go the rights to PEXPIRE and DEL together, but not that to HSET.
        rights("-@keyspace");

        assertUndone(failure(app.store.acquire(app.request("n", app.newHolder(), 30_000, false))), "n");
    }

    @Test
    void aPlaceInTheQueue() {
        admin.hold("n");
        rights("-pexpire");

        StoreException error = failure(app.store.acquire(app.request("n", app.newHolder(), 30_000, true)));
        assertUndone(error);
        assertThat(admin.inspect("n").waiting()).isZero();
    }

    @Test
    void aPlaceBehindOthersInTheQueue() {
        admin.hold("n");
        admin.queue("n");
        rights("-pexpire");

        assertUndone(failure(
                app.store.acquire(AcquireRequest.queueing("n", app.newHolder(), 30_000, 10 * TestClient.POLL_MILLIS))));
        assertThat(admin.inspect("n").waiting()).isOne();
    }

    @Test
    void anAcquireOfSeveral() {
        assumeThat(app.store.canAcquireAll(List.of("a", "b"))).isTrue();
        rights("-pexpire");

        assertUndone(
                failure(app.store.acquireAll(List.of(
                        app.request("a", app.newHolder(), 30_000, false),
                        app.request("b", app.newHolder(), 30_000, false)))),
                "a",
                "b");
    }

    @Test
    void aReleaseThatPassesTheLockOn() {
        String held = app.hold("n");
        String waiting = admin.queue("n");
        rights("-pexpire");

        assertUndone(failure(app.store.release(ReleaseRequest.of("n", held))), "n");
        admin.acquire("n", waiting, 30_000, true);
        assertThat(admin.inspect("n").holder()).isEqualTo(waiting);
    }

    @Test
    void aRenewalThatSetsALength() {
        String held = app.hold("n");
        rights("-pexpire");

        StoreException error = failure(app.store.renew(RenewRequest.set("n", held, 60_000, 1)));
        assertThat(error.outcome()).isEqualTo(UNKNOWN);
        assertThat(keysWithoutExpiry()).isEmpty();
        assertThat(admin.inspect("n").remainingMillis()).isBetween(1L, 30_000L);
        rights("+pexpire");
        app.renew("n", held, 60_000, 1, true);
        assertThat(admin.inspect("n").remainingMillis()).isGreaterThan(30_000L);
    }

    /** As a user sees it: an error, and the lock is free for others. */
    @Test
    void aClientGivesBackWhatWasHalfDone() throws Exception {
        try (LockClient client = LockClient.builder()
                .uri(uri())
                .storeTimeout(Duration.ofSeconds(1))
                .build()) {
            client.acquire("n").release();
            rights("-pexpire");
            assertThatThrownBy(() -> client.tryAcquire("n"))
                    .isInstanceOf(LockStoreException.class)
                    .hasMessageContaining("refused");
            await().atMost(Duration.ofSeconds(10))
                    .until(() -> admin.inspect("n").holder() == null);
            rights("+pexpire");
            try (Lease lease = client.acquire("n")) {
                assertThat(lease.isValid()).isTrue();
            }
        }
    }

    @Test
    void withoutScripts() {
        try (TestClient commands = new TestClient(uri() + "?mode=commands")) {
            commands.release("warm", commands.hold("warm"));
            for (String right : List.of("pexpire", "set", "incr", "time")) {
                rights("-" + right);
                var acquiring = commands.store.acquire(commands.request("n", commands.newHolder(), 30_000, false));
                String holder = "";
                try {
                    assertThat(TestClient.get(acquiring)).isNotNull();
                    holder = String.valueOf(admin.inspect("n").holder());
                    commands.release("n", holder);
                } catch (StoreException e) {
                    // Either it is there and the engine withdraws it, or the store says that it is not.
                    if (e.outcome() != UNKNOWN) {
                        assertThat(admin.inspect("n").holder()).as(right).isNull();
                    }
                }
                assertThat(server.command("PTTL", "n")).as(right).isNotEqualTo(-1L);
                server.command("DEL", "n");
                rights("+" + right);
            }
        }
    }

    @Test
    void aWaitAtAMember() {
        SharedThreads threads = new SharedThreads();
        try (QuorumMember member = MemberOpening.open(
                RedisUris.parse(URI.create(uri())), threads, new StoreContext("hf-c", TimeSource.system()))) {
            TestClient.get(member.admit(0));
            TestClient.get(member.take(new Take("m", "hf-other:1~1", 30_000, 0, 1, 0)));
            rights("-pexpire");
            StoreException error = failure(member.take(new Take("m", "hf-c:1~1", 30_000, 0, 2, 1_000)));
            assertThat(error.outcome()).isEqualTo(UNKNOWN);
            assertThat(keysWithoutExpiry()).allMatch(key -> key.endsWith(":birth"));
        }
    }
}
