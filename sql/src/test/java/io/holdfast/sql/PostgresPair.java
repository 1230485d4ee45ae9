package io.holdfast.sql;

import static org.awaitility.Awaitility.await;

import io.holdfast.LockClient;
import io.holdfast.testkit.servers.PostgresServer;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;

/** A PostgreSQL with the tables of the store, and a standby that follows it. */
final class PostgresPair implements AutoCloseable {

    final PostgresServer primary;
    final PostgresServer standby;

    /** Starts both. Skips the test, with the reason, where this machine cannot run them. */
    PostgresPair() throws Exception {
        primary = Databases.ownPostgres();
        LockClient.connect(primary.url() + "&createTable=true").close();
        standby = primary.startStandby("standby");
        awaitOne("SELECT count(*) FROM pg_stat_replication");
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

    /** Returns the URL of both servers: the driver finds the primary. */
    String url() {
        return primary.url().replace("/postgres", ",127.0.0.1:" + standby.port() + "/postgres");
    }

    /** Lets each commit wait until the standby has it. */
    void makeSynchronous() throws SQLException {
        synchronous(primary, "standby");
        awaitOne("SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'");
    }

    /** Waits until the standby has everything, while nobody writes. */
    void awaitInStep() {
        awaitOne("SELECT count(*) FROM pg_stat_replication WHERE replay_lsn = pg_current_wal_lsn()");
    }

    private static void synchronous(PostgresServer server, String names) throws SQLException {
        Databases.execute(
                server.url() + "&options=-c%20synchronous_commit=local",
                "ALTER SYSTEM SET synchronous_standby_names = '" + names + "'",
                "SELECT pg_reload_conf()");
    }

    /** Makes the standby the primary, which waits for no standby of its own. */
    void promote() throws SQLException {
        Databases.execute(standby.url(), "SELECT pg_promote()");
        synchronous(standby, "");
    }

    @Override
    public void close() {
        standby.close();
        primary.close();
    }
}
