package io.holdfast.redis;

import static io.holdfast.redis.TestClient.failure;
import static io.holdfast.spi.StoreException.Outcome.FATAL;
import static io.holdfast.spi.StoreException.Outcome.NOT_EXECUTED;
import static io.holdfast.spi.StoreException.Outcome.UNKNOWN;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.LockClient;
import io.holdfast.LockOptions;
import io.holdfast.LockStoreException;
import io.holdfast.spi.AcquireReply.Granted;
import io.holdfast.spi.ReleaseRequest;
import io.holdfast.spi.RenewReply;
import io.holdfast.spi.RenewReply.Renewed;
import io.holdfast.spi.RenewRequest;
import io.holdfast.spi.StoreException;
import io.holdfast.testkit.servers.Installation;
import io.holdfast.testkit.servers.RedisServer;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.MethodSource;

/** Servers that answer, but not as one would like. */
@ParameterizedClass(name = "{0}")
@MethodSource("io.holdfast.testkit.servers.RedisServer#available")
class SickServerTest {

    private final Installation installation;

    private RedisServer server;

    SickServerTest(Installation installation) {
        this.installation = installation;
    }

    @BeforeEach
    void start() {
        server = RedisServer.builder().installation(installation).start();
    }

    @AfterEach
    void stop() {
        server.close();
    }

    /** A stopped process, or one that swaps: whether the lock is free is not known, so it is not "busy". */
    @Test
    void aServerThatHangsForAWholeWaitIsNotABusyLock() throws InterruptedException {
        try (LockClient client = LockClient.connect(server.uri())) {
            client.acquire("free").release();
            server.pause();
            for (Duration wait : List.of(Duration.ofMillis(500), Duration.ofMillis(5))) {
                assertThatThrownBy(() -> client.tryAcquire("free", wait))
                        .isInstanceOf(LockStoreException.class)
                        .hasMessageContaining(" did not answer within ")
                        .hasMessageContaining(" whether the lock \"free\" is free");
            }
            server.resume();
            client.acquire("free").release();
        }
    }

    /** A store that is asked for several names by one command. */
    @Test
    void norIsOneThatHangsInACommandForSeveral() throws InterruptedException {
        try (LockClient client = LockClient.connect(server.uri())) {
            client.acquire("free").release();
            var sleeping = CompletableFuture.runAsync(() -> server.command("DEBUG", "SLEEP", "1.5"));
            Thread.sleep(200);
            assertThatThrownBy(() -> client.tryAcquireAll(
                            List.of("free", "also"), LockOptions.defaults().waitAtMost(Duration.ofMillis(400))))
                    .isInstanceOf(LockStoreException.class)
                    .hasMessageContaining(" did not answer within ");
            sleeping.join();
            client.acquireAll(List.of("free", "also")).release();
        }
    }

    /**
     * A full server grants nothing new, but what is held can be renewed, released and passed on, and nothing is left
     * that never ends.
     */
    @Test
    void aFullServerRefusesOnlyWhatNeedsMemory() {
        try (TestClient a = new TestClient(server.uri());
                TestClient b = new TestClient(server.uri())) {
            String holder = a.hold("n");
            String next = b.queue("n");
            server.command("CONFIG", "SET", "maxmemory", "1");

            StoreException error = failure(a.store.acquire(a.request("other", a.newHolder(), 30_000, true)));
            assertThat(error.outcome()).isEqualTo(NOT_EXECUTED);
            assertThat(error.getMessage()).contains("OOM").contains("maxmemory");
            assertThat(server.command("EXISTS", "other")).isEqualTo(0L);
            a.renew("n", holder, 60_000);
            assertThat(a.inspect("n").remainingMillis()).isGreaterThan(50_000);
            assertThat(a.release("n", holder)).isTrue();
            b.await("granted n " + next, 1_000);
            assertThat((Long) server.command("PTTL", "n")).isPositive();

            server.command("CONFIG", "SET", "maxmemory", "0");
            assertThat(a.acquire("other", a.newHolder(), 30_000, true)).isInstanceOf(Granted.class);
        }
    }

    /**
     * A setting notes its number in the hold, which takes memory: neither it nor what is renewed beside it may fail by
     * that.
     */
    @Test
    void aFullServerStillSetsALength() {
        try (TestClient a = new TestClient(server.uri())) {
            String set = a.hold("set");
            String held = a.hold("held");
            server.command("CONFIG", "SET", "maxmemory", "1");

            assertThat(a.renew("set", set, 5_000, 1, true)).isInstanceOf(Renewed.class);
            assertThat(a.inspect("set").remainingMillis()).isBetween(1L, 5_000L);
            List<CompletionStage<RenewReply>> renewed = a.renewAll(
                    List.of(RenewRequest.extend("set", set, 1_000, 2), RenewRequest.extend("held", held, 60_000, 0)));
            assertThat(TestClient.get(renewed.get(0))).isInstanceOf(Renewed.class);
            assertThat(TestClient.get(renewed.get(1))).isInstanceOf(Renewed.class);
            assertThat(a.inspect("set").remainingMillis()).isBetween(1_001L, 5_000L);
            assertThat(a.inspect("held").remainingMillis()).isGreaterThan(50_000);
        }
    }

    @Test
    void aReplicaRefuses() {
        try (TestClient a = new TestClient(server.uri())) {
            String holder = a.hold("n");
            server.command("REPLICAOF", "127.0.0.1", "1");
            // In between it looks whether its address leads to another server by now.
            for (StoreException error : new StoreException[] {
                refusal(() -> a.store.acquire(a.request("other", a.newHolder(), 30_000, true))),
                refusal(() -> a.store.release(ReleaseRequest.of("n", holder)))
            }) {
                assertThat(error.outcome()).isEqualTo(NOT_EXECUTED);
                assertThat(error.getMessage())
                        .startsWith("redis://127.0.0.1:" + server.port() + "/0 refused: ")
                        .contains("READONLY")
                        .contains("connect to the master");
            }
        }
    }

    @Test
    void aServerWithoutItsReplicasRefuses() {
        try (TestClient a = new TestClient(server.uri())) {
            String holder = a.hold("n");
            server.command("CONFIG", "SET", "min-replicas-to-write", "1");
            expect(a, holder, "NOREPLICAS", "min-replicas-to-write");
            assertThat(a.inspect("n").holder()).isEqualTo(holder);
        }
    }

    @Test
    void aServerBusyWithAScriptRefuses() {
        server.command("CONFIG", "SET", "lua-time-limit", "50");
        try (TestClient a = new TestClient(server.uri())) {
            String holder = a.hold("n");
            var endless = CompletableFuture.runAsync(() -> {
                try {
                    server.command("EVAL", "while true do end", "0");
                } catch (RuntimeException e) {
                    // Killed below.
                }
            });
            // Until the script has run for the limit, commands wait; then they are refused.
            StoreException error = null;
            while (error == null || error.outcome() == UNKNOWN) {
                try {
                    a.inspect("n");
                } catch (StoreException e) {
                    error = e;
                }
            }
            assertThat(error.outcome()).isEqualTo(NOT_EXECUTED);
            assertThat(error.getMessage()).contains("BUSY");
            server.command("SCRIPT", "KILL");
            endless.join();
            assertThat(a.release("n", holder)).isTrue();
        }
    }

    @Test
    void aMissingRightIsFatal() {
        server.command("ACL", "SETUSER", "app", "on", ">pw", "~app:*", "~holdfast:*", "&*", "+@all");
        try (TestClient a = new TestClient(server.uri().replace("redis://", "redis://app:pw@"))) {
            a.hold("app:1");
            StoreException error = failure(a.store.acquire(a.request("n", a.newHolder(), 30_000, true)));
            assertThat(error.outcome()).isEqualTo(FATAL);
            assertThat(error.getMessage())
                    .contains("NOPERM")
                    .contains("ACL SETUSER")
                    .doesNotContain("pw");
        }
    }

    @Test
    void aRightThatIsLostStopsNoOthersRenewal() {
        server.command("ACL", "SETUSER", "app", "on", ">pw", "~app:*", "~old:*", "~holdfast:*", "&*", "+@all");
        try (TestClient a = new TestClient(server.uri().replace("redis://", "redis://app:pw@"))) {
            String old = a.hold("old:1");
            String held = a.hold("app:1");
            server.command("ACL", "SETUSER", "app", "resetkeys", "~app:*", "~holdfast:*");
            List<CompletionStage<RenewReply>> renewed = a.renewAll(List.of(
                    RenewRequest.extend("old:1", old, 60_000, 0), RenewRequest.extend("app:1", held, 60_000, 0)));
            assertThat(failure(renewed.get(0)).getMessage()).contains("NOPERM");
            assertThat(TestClient.get(renewed.get(1))).isInstanceOf(Renewed.class);
        }
    }

    @Test
    void aServerThatIsDownIsNotConnected() {
        try (TestClient a = new TestClient(server.uri())) {
            String holder = a.hold("n");
            server.kill();
            StoreException error = failure(a.store.release(ReleaseRequest.of("n", holder)));
            while (error.outcome() == UNKNOWN) {
                // The connection's end has not arrived here yet.
                error = failure(a.store.release(ReleaseRequest.of("n", holder)));
            }
            assertThat(error.outcome()).isEqualTo(NOT_EXECUTED);
            assertThat(error)
                    .hasMessage("redis://127.0.0.1:" + server.port() + "/0 is not connected; trying to reconnect");
        }
    }

    @Test
    void aClosedStoreDoesNothing() {
        TestClient a = new TestClient(server.uri());
        a.close();
        a.close();
        StoreException error = failure(a.store.inspect("n"));
        assertThat(error.outcome()).isEqualTo(NOT_EXECUTED);
        assertThat(error).hasMessage("The store redis://127.0.0.1:" + server.port() + "/0 is closed");
    }

    /** What the server says once it is connected. */
    private static StoreException refusal(Supplier<CompletionStage<?>> command) {
        StoreException error = failure(command.get());
        while (String.valueOf(error.getMessage()).contains("not connected")) {
            error = failure(command.get());
        }
        return error;
    }

    private void expect(TestClient client, String holder, String said, String wayOut) {
        for (StoreException error : new StoreException[] {
            failure(client.store.acquire(client.request("other", client.newHolder(), 30_000, true))),
            failure(client.store.release(ReleaseRequest.of("n", holder)))
        }) {
            assertThat(error.outcome()).isEqualTo(NOT_EXECUTED);
            assertThat(error.getMessage())
                    .startsWith("redis://127.0.0.1:" + server.port() + "/0 refused: ")
                    .contains(said)
                    .contains(wayOut);
        }
    }
}
