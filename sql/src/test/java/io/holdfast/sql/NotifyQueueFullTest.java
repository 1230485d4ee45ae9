package io.holdfast.sql;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.holdfast.Lease;
import io.holdfast.LockClient;
import io.holdfast.testkit.servers.PostgresServer;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Somebody's session listens and never ends its transaction, until the server refuses each commit with a message. */
@Tag("deep") // starts a server of its own
class NotifyQueueFullTest {

    private static final String NAME = "notify";

    private PostgresServer server;
    private Connection listening;
    private Connection other;
    private LockClient one;
    private LockClient two;

    @BeforeEach
    void connect() throws Exception {
        server = Databases.ownPostgres("max_notify_queue_pages=64");
        one = client();
        two = client();
        one.acquire(NAME).release();
        two.acquire(NAME).release();
        listening = DriverManager.getConnection(server.url());
        other = DriverManager.getConnection(server.url());
    }

    @AfterEach
    void close() throws Exception {
        if (server != null) {
            one.close();
            two.close();
            listening.close();
            other.close();
            server.close();
        }
    }

    @Test
    void aLockIsPassedOnToWhoWaitedBefore() throws Exception {
        Lease lease = one.acquire(NAME);
        CompletableFuture<Lease> next = waiter();
        fill();
        lease.release();
        next.get(30, TimeUnit.SECONDS).release();
    }

    @Test
    void whoComesThenWaitsInTheQueue() throws Exception {
        fill();
        Lease lease = one.acquire(NAME);
        CompletableFuture<Lease> next = waiter();
        lease.release();
        next.get(30, TimeUnit.SECONDS).release();
    }

    @Test
    void aGuardedTransactionIsCommitted() throws Exception {
        Lease lease = one.acquire(NAME);
        other.setAutoCommit(false);
        SqlGuard guard = SqlGuard.check(other, lease);
        CompletableFuture<Lease> next = waiter();
        fill();
        guard.commitAndRelease(other);
        next.get(30, TimeUnit.SECONDS).release();
    }

    private LockClient client() {
        return LockClient.builder()
                .uri(server.url() + "&createTable=true")
                .storeTimeout(Duration.ofSeconds(2))
                .build();
    }

    private CompletableFuture<Lease> waiter() {
        CompletableFuture<Lease> next = two.acquireAsync(NAME).toCompletableFuture();
        await().atMost(Duration.ofSeconds(30)).until(() -> one.inspect(NAME).waitingClients() == 1);
        assertThat(next).isNotDone();
        return next;
    }

    private void fill() throws SQLException {
        execute(listening, "LISTEN somebody");
        listening.setAutoCommit(false);
        execute(listening, "SELECT 1");
        String full = "SELECT pg_notify('nobody', repeat('x', 7900)) FROM generate_series(1, 10)";
        try (Connection sender = DriverManager.getConnection(server.url())) {
            assertThatThrownBy(() -> {
                        for (int i = 0; i < 100; i++) {
                            execute(sender, full.replace("'nobody'", "'nobody" + i + "'"));
                        }
                    })
                    .isInstanceOf(SQLException.class)
                    .hasMessageContaining("too many notifications");
        }
    }

    private static void execute(Connection connection, String sql) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }
}
