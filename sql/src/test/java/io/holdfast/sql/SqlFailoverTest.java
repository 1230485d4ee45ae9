package io.holdfast.sql;

import static org.awaitility.Awaitility.await;

import io.holdfast.Lease;
import io.holdfast.LockClient;
import io.holdfast.testkit.servers.PostgresServer;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A standby of PostgreSQL takes over, or is away. */
@Tag("deep")
class SqlFailoverTest {

    private PostgresServer primary;
    private PostgresServer standby;

    /** The URL of both servers: the driver finds the primary. */
    private String both;

    @BeforeEach
    void start() throws Exception {
        primary = Databases.ownPostgres();
        LockClient.connect(primary.url() + "&createTable=true").close();
        standby = primary.startStandby("standby");
        awaitOne("SELECT count(*) FROM pg_stat_replication");
        both = primary.url().replace("/postgres", ",127.0.0.1:" + standby.port() + "/postgres");
    }

    @AfterEach
    void end() {
        standby.close();
        primary.close();
    }

    private void awaitOne(String count) {
        await().atMost(Duration.ofSeconds(60)).until(() -> isOne(count));
    }

    private boolean isOne(String count) throws SQLException {
        try (Connection connection = DriverManager.getConnection(primary.url());
                Statement statement = connection.createStatement();
                ResultSet answer = statement.executeQuery(count)) {
            return answer.next() && answer.getInt(1) == 1;
        }
    }

    private void makeSynchronous() throws SQLException {
        synchronous(primary, "standby");
        awaitOne("SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'");
    }

    private static void synchronous(PostgresServer server, String names) throws SQLException {
        Databases.execute(
                server.url() + "&options=-c%20synchronous_commit=local",
                "ALTER SYSTEM SET synchronous_standby_names = '" + names + "'",
                "SELECT pg_reload_conf()");
    }

    @Test
    void a_synchronous_standby_has_every_hold() throws Exception {
        makeSynchronous();
        try (Kept kept = new Kept(both);
                Crew crew = new Crew(both)) {
            crew.awaitProgress();
            primary.kill();
            Databases.execute(standby.url(), "SELECT pg_promote()");
            // Otherwise it would wait for a standby of its own.
            synchronous(standby, "");
            crew.awaitProgress();
            kept.assertKept();
        }
    }

    /** A take that no standby has is no take: the lock is granted to nobody until the standby is back. */
    @Test
    void a_synchronous_standby_that_is_away_lets_nobody_take_a_lock() throws Exception {
        makeSynchronous();
        try (Kept kept = new Kept(both);
                Crew crew = new Crew(both)) {
            crew.awaitProgress();
            standby.pause();
            try {
                crew.awaitError("did not answer within");
            } finally {
                standby.resume();
            }
            crew.awaitProgress();
            kept.assertKept();
        }
    }

    /** Such a standby may forget a hold. Its holder hears of that, and tokens grow. */
    @Test
    void an_asynchronous_standby_forgets_what_it_had_not_received() throws Exception {
        try (Forgotten forgotten = new Forgotten(both)) {
            // A stopped one would still read what has arrived.
            standby.kill();
            Lease lease = forgotten.take();
            primary.kill();
            standby.restart();
            Databases.execute(standby.url(), "SELECT pg_promote()");
            forgotten.assertForgotten(lease);
        }
    }
}
