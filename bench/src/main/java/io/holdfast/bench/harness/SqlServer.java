package io.holdfast.bench.harness;

import io.holdfast.testkit.servers.PostgresServer;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;

/**
 * The PostgreSQL of a run, which writes through to the disk, with the tables of all peers. What it counts is read from
 * another database, so that the reading does not count.
 */
final class SqlServer implements AutoCloseable {

    private static final String DATABASE = "bench";

    private static final String COUNTERS =
            "SELECT coalesce(sum(calls), 0), coalesce(sum(rows) FILTER (WHERE query ILIKE '%UPDATE%holdfast_lock%'), 0),"
                    + " coalesce(sum(wal_bytes), 0), (SELECT count(*) FROM pg_stat_activity WHERE datname = '"
                    + DATABASE + "') FROM pg_stat_statements WHERE dbid = (SELECT oid FROM pg_database"
                    + " WHERE datname = '" + DATABASE + "')";

    /**
     * What the server has done since its start.
     *
     * @param statements with BEGIN and COMMIT
     * @param rows of Holdfast's locks that were changed
     * @param walBytes of the log that is written before data
     * @param sessions that are open now
     */
    record Counters(long statements, long rows, long walBytes, long sessions) {}

    private final PostgresServer server;
    private final Connection counting;

    private SqlServer(PostgresServer server, Connection counting) {
        this.server = server;
        this.counting = counting;
    }

    static SqlServer start() throws Exception {
        PostgresServer server =
                PostgresServer.start("fsync=on", "max_connections=300", "shared_preload_libraries=pg_stat_statements");
        SqlServer started = new SqlServer(server, DriverManager.getConnection(server.url()));
        execute(started.counting, "CREATE EXTENSION pg_stat_statements", "CREATE DATABASE " + DATABASE);
        try (Connection connection = started.connect()) {
            execute(
                    connection,
                    "CREATE TABLE shedlock (name VARCHAR(64) PRIMARY KEY, lock_until TIMESTAMP NOT NULL,"
                            + " locked_at TIMESTAMP NOT NULL, locked_by VARCHAR(255) NOT NULL)",
                    "CREATE TABLE int_lock (lock_key CHAR(36) NOT NULL, region VARCHAR(100) NOT NULL, client_id CHAR(36),"
                            + " created_date TIMESTAMP NOT NULL, expired_after TIMESTAMP NOT NULL,"
                            + " PRIMARY KEY (lock_key, region))");
        }
        return started;
    }

    String url() {
        return server.url().replace("/postgres?", "/" + DATABASE + "?");
    }

    int port() {
        return server.port();
    }

    Connection connect() throws SQLException {
        return DriverManager.getConnection(url());
    }

    /** Opens a transaction whose snapshot keeps all versions of rows from now on, until the connection is closed. */
    Connection keepSnapshot() throws SQLException {
        Connection connection = connect();
        connection.setTransactionIsolation(Connection.TRANSACTION_REPEATABLE_READ);
        connection.setAutoCommit(false);
        execute(connection, "SELECT count(*) FROM pg_class");
        return connection;
    }

    String version() throws SQLException {
        return "PostgreSQL " + counting.getMetaData().getDatabaseProductVersion();
    }

    Counters counters() {
        try (Statement statement = counting.createStatement();
                ResultSet row = statement.executeQuery(COUNTERS)) {
            row.next();
            return new Counters(row.getLong(1), row.getLong(2), row.getLong(3), row.getLong(4));
        } catch (SQLException e) {
            throw new IllegalStateException("The counters cannot be read", e);
        }
    }

    private static void execute(Connection connection, String... statements) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            for (String sql : statements) {
                statement.execute(sql);
            }
        }
    }

    @Override
    public void close() {
        server.close();
    }
}
