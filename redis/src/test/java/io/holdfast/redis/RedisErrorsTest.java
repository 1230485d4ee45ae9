package io.holdfast.redis;

import static io.holdfast.redis.TestClient.failure;
import static io.holdfast.spi.StoreException.Outcome.FATAL;
import static io.holdfast.spi.StoreException.Outcome.NOT_EXECUTED;
import static io.holdfast.spi.StoreException.Outcome.UNKNOWN;
import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.spi.AcquireReply.Granted;
import io.holdfast.spi.ReleaseRequest;
import io.holdfast.spi.StoreException;
import io.holdfast.testkit.RedisServer;
import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.RedisCommandTimeoutException;
import io.lettuce.core.RedisException;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What a failed command is said to have done, by the driver's exceptions and by servers in trouble. */
class RedisErrorsTest {

    private static final RedisErrors ERRORS = new RedisErrors("redis://h:6379/0", Duration.ofMillis(2_500));

    private RedisServer server;

    @BeforeEach
    void start() {
        server = RedisServer.start();
    }

    @AfterEach
    void stop() {
        server.close();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "LOADING Redis is loading the dataset in memory | NOT_EXECUTED",
                "BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE. | NOT_EXECUTED",
                "TRYAGAIN Multiple keys request during rehashing of slot | NOT_EXECUTED",
                "READONLY You can't write against a read only replica. script: 1, on @user_script:1. | NOT_EXECUTED",
                "ERR Error running script (call to f_1): @user_script:9: @user_script: 9: -OOM command not allowed when used memory > 'maxmemory'. | NOT_EXECUTED",
                "NOREPLICAS Not enough good replicas to write. | NOT_EXECUTED",
                "MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'. | NOT_EXECUTED",
                "CLUSTERDOWN Hash slot not served | NOT_EXECUTED",
                "MISCONF Redis is configured to save RDB snapshots, but it's currently unable to persist to disk. | NOT_EXECUTED",
                "ERR max number of clients reached | NOT_EXECUTED",
                "NOAUTH Authentication required. | FATAL",
                "WRONGPASS invalid username-password pair or user is disabled. | FATAL",
                "NOPERM this user has no permissions to run the 'evalsha' command or its subcommand | FATAL",
                "NOPERM No permissions to access the 'OOM BUSY' key | FATAL",
                "WRONGTYPE Operation against a key holding the wrong kind of value | FATAL",
                "ERR unknown command 'EVALSHA' | FATAL",
                "ERR no such thing as BUSYNESS or a LOADINGDOCK | FATAL",
            })
    void refusalsAreToldApart(String said, StoreException.Outcome outcome) {
        StoreException error = ERRORS.of(new RedisCommandExecutionException(said));
        assertThat(error.outcome()).isEqualTo(outcome);
        assertThat(error).hasMessageStartingWith("redis://h:6379/0 refused: ");
    }

    @Test
    void aWrappedRefusalIsShownWithoutItsWrapping() {
        assertThat(ERRORS.of(
                        new RedisCommandExecutionException("ERR Error running script (call to f_1): @user_script:9:"
                                + " @user_script: 9: -OOM command not allowed when used memory > 'maxmemory'.")))
                .hasMessage("redis://h:6379/0 refused: OOM command not allowed when used memory > 'maxmemory'."
                        + " (raise its maxmemory, or remove keys)");
    }

    @Test
    void theDriversExceptionsAreToldApart() {
        StoreException timeout = ERRORS.of(new CompletionException(new RedisCommandTimeoutException("too long")));
        assertThat(timeout).hasMessage("redis://h:6379/0 did not answer within 2500 ms");
        assertThat(timeout.outcome()).isEqualTo(UNKNOWN);
        assertThat(outcome(new RedisException("Connection disconnected"))).isEqualTo(UNKNOWN);
        assertThat(outcome(new RedisException("Connection closed"))).isEqualTo(UNKNOWN);
        assertThat(outcome(new IOException("Connection reset by peer"))).isEqualTo(UNKNOWN);
        assertThat(outcome(new CancellationException())).isEqualTo(UNKNOWN);
        assertThat(outcome(new ClassCastException("not a list"))).isEqualTo(UNKNOWN);
        assertThat(outcome(new RedisException("Currently not connected. Commands are rejected.")))
                .isEqualTo(NOT_EXECUTED);
        assertThat(outcome(new RedisException("Connection is closed"))).isEqualTo(NOT_EXECUTED);
    }

    /** A full server grants nothing new, but what is held can be renewed, released and passed on. */
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
            a.renew("n", holder, 60_000);
            assertThat(a.inspect("n").remainingMillis()).isGreaterThan(50_000);
            assertThat(a.release("n", holder)).isTrue();
            b.await("granted n " + next, 1_000);
            assertThat((Long) server.command("PTTL", "n")).isPositive();

            server.command("CONFIG", "SET", "maxmemory", "0");
            assertThat(a.acquire("other", a.newHolder(), 30_000, true)).isInstanceOf(Granted.class);
        }
    }

    @Test
    void aReplicaRefuses() {
        try (TestClient a = new TestClient(server.uri())) {
            String holder = a.hold("n");
            server.command("REPLICAOF", "127.0.0.1", "1");
            expect(a, holder, "READONLY", "connect to the master");
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
    void aServerThatIsDownIsNotConnected() {
        try (TestClient a = new TestClient(server.uri())) {
            String holder = a.hold("n");
            server.kill();
            StoreException error = failure(a.store.release(new ReleaseRequest("n", holder, null)));
            while (error.outcome() == UNKNOWN) {
                // The connection's end has not arrived here yet.
                error = failure(a.store.release(new ReleaseRequest("n", holder, null)));
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

    private void expect(TestClient client, String holder, String said, String wayOut) {
        for (StoreException error : new StoreException[] {
            failure(client.store.acquire(client.request("other", client.newHolder(), 30_000, true))),
            failure(client.store.release(new ReleaseRequest("n", holder, null)))
        }) {
            assertThat(error.outcome()).isEqualTo(NOT_EXECUTED);
            assertThat(error.getMessage())
                    .startsWith("redis://127.0.0.1:" + server.port() + "/0 refused: ")
                    .contains(said)
                    .contains(wayOut);
        }
    }

    private static StoreException.Outcome outcome(Throwable error) {
        return ERRORS.of(error).outcome();
    }
}
