package io.holdfast.sql;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.holdfast.Lease;
import io.holdfast.LockClient;
import io.holdfast.LockOptions;
import io.holdfast.testkit.servers.PostgresServer;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A PostgreSQL that fails under three clients. After each failure: never two holders, nobody stuck, and each error one
 * of the store.
 */
@Tag("deep")
class SqlFailureTest {

    private static final LockOptions MINUTE = LockOptions.defaults().leaseFor(Duration.ofMinutes(1));

    private static PostgresServer server;

    private final String kept = "kept:" + UUID.randomUUID();

    @BeforeAll
    static void start() {
        server = Databases.ownPostgres();
    }

    @AfterAll
    static void end() {
        server.close();
    }

    @BeforeEach
    void makeTables() {
        LockClient.connect(url() + "&createTable=true").close();
    }

    private static String url() {
        return server.url();
    }

    private void assertKept(LockClient holder, Lease lease) throws InterruptedException {
        assertThat(lease.isValid()).isTrue();
        try (LockClient other = LockClient.connect(url())) {
            assertThat(other.tryAcquire(kept)).isEmpty();
            lease.release();
            other.acquire(kept).release();
        }
        holder.close();
    }

    @Test
    void a_killed_server_keeps_the_holds() throws Exception {
        LockClient holder = Crew.client(url());
        Lease lease = holder.acquire(kept, MINUTE);
        try (Crew crew = new Crew(url())) {
            crew.awaitProgress();
            server.kill();
            crew.awaitError("jdbc:postgresql://127.0.0.1");
            server.restart();
            crew.awaitProgress();
            assertKept(holder, lease);
        }
    }

    @Test
    void a_server_that_stood_still_for_longer_than_a_lease_goes_on() throws Exception {
        try (Crew crew = new Crew(url())) {
            crew.awaitProgress();
            LockClient holder = Crew.client(url());
            Lease lease = holder.acquire(kept);
            server.pause();
            try {
                await().atMost(Duration.ofSeconds(40)).until(() -> !lease.isValid());
                crew.awaitError("jdbc:postgresql://127.0.0.1");
            } finally {
                server.resume();
            }
            crew.awaitProgress();
            holder.acquire(kept).release();
            holder.close();
        }
    }

    /** An administrator's limits are for applications that forget a transaction or a session; a lock needs its own. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "statement_timeout = '1ms'",
                "lock_timeout = '1ms'",
                "idle_in_transaction_session_timeout = '1ms'",
                "idle_session_timeout = '300ms'"
            })
    void a_low_limit_of_the_administrator_does_no_harm(String limit) throws Exception {
        Databases.execute(url(), "ALTER ROLE test SET " + limit);
        try (LockClient holder = Crew.client(url())) {
            Lease lease = holder.acquire(kept, MINUTE);
            try (Crew crew = new Crew(url())) {
                crew.awaitProgress();
                Thread.sleep(1_000);
                // The first command after a while, on a free lock: nobody is there to try again.
                holder.tryAcquire("free:" + kept).orElseThrow().release();
                crew.awaitProgress();
                assertThat(crew.errors()).isEmpty();
                assertThat(lease.isValid()).isTrue();
            }
        } finally {
            Databases.execute(url() + "&options=-c%20statement_timeout=20s", "ALTER ROLE test RESET ALL");
        }
    }

    @Test
    void our_idle_sessions_are_not_ended() throws Exception {
        Databases.execute(url(), "ALTER ROLE test SET idle_session_timeout = '300ms'");
        try (LockClient holder = Crew.client(url())) {
            Lease lease = holder.acquire(kept, MINUTE);
            List<Long> before = sessions();
            Thread.sleep(1_500);
            assertThat(before).hasSizeGreaterThan(1);
            assertThat(sessions()).containsAll(before);
            lease.release();
        } finally {
            Databases.execute(url(), "ALTER ROLE test RESET ALL");
        }
    }

    private static List<Long> sessions() throws SQLException {
        List<Long> pids = new ArrayList<>();
        try (Connection connection = DriverManager.getConnection(url());
                Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery(
                        "SELECT pid FROM pg_stat_activity WHERE application_name LIKE 'holdfast%'")) {
            while (rows.next()) {
                pids.add(rows.getLong(1));
            }
        }
        return pids;
    }
}
