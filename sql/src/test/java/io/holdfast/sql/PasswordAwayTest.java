package io.holdfast.sql;

import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.holdfast.Lease;
import io.holdfast.LockClient;
import io.holdfast.LockStoreException;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** The application's source of passwords fails for a while, and new connections are needed meanwhile. */
class PasswordAwayTest {

    private final String program = "away-" + UUID.randomUUID();
    private final AtomicBoolean away = new AtomicBoolean();
    private final AtomicInteger refused = new AtomicInteger();

    /** The thread that listens needs it, too, and ended for good. */
    @Test
    void messagesAreHeardAgain() throws Exception {
        try (LockClient client = client();
                LockClient other = LockClient.connect(Databases.url(SqlSettings.Kind.POSTGRESQL))) {
            client.acquire(program).release();
            await().until(this::hears);
            away.set(true);
            endSessions();
            await().atMost(Duration.ofSeconds(30)).until(() -> refused.get() >= 3);
            // The first one meets the end of the session.
            assertThatThrownBy(() -> client.tryAcquire(program)).isInstanceOf(LockStoreException.class);
            assertThatThrownBy(() -> client.tryAcquire(program))
                    .isInstanceOf(LockStoreException.class)
                    .hasMessageContaining("cannot be connected to: java.lang.IllegalStateException: no password now");
            away.set(false);
            await().atMost(Duration.ofSeconds(30)).until(this::hears);
            Lease lease = other.acquire(program);
            CompletableFuture<Lease> next = client.acquireAsync(program).toCompletableFuture();
            lease.release();
            next.get(30, TimeUnit.SECONDS).release();
        }
    }

    @Test
    void theOpeningSaysSo() {
        away.set(true);
        assertThatThrownBy(() -> client().close())
                .isInstanceOf(LockStoreException.class)
                .hasMessageContaining("no password now");
    }

    private LockClient client() {
        SqlStores.Builder store = SqlStores.url(Databases.url(SqlSettings.Kind.POSTGRESQL))
                .property("ApplicationName", program)
                .password(this::password);
        return LockClient.builder()
                .store(store::open)
                .storeTimeout(Duration.ofSeconds(2))
                .build();
    }

    private String password() {
        if (away.get()) {
            refused.incrementAndGet();
            throw new IllegalStateException("no password now");
        }
        return "";
    }

    /** Returns whether a session of the client listens. No other one sends these statements. */
    private boolean hears() throws SQLException {
        try (Connection connection = DriverManager.getConnection(Databases.postgres());
                Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery("SELECT 1 FROM pg_stat_activity WHERE application_name = '"
                        + program + "' AND (query LIKE 'LISTEN %' OR query = 'SELECT 1')")) {
            return rows.next();
        }
    }

    private void endSessions() throws SQLException {
        Databases.execute(
                Databases.postgres(),
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = '" + program + "'");
    }
}
