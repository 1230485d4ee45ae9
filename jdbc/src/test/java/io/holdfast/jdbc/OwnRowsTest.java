package io.holdfast.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.Lease;
import io.holdfast.LeaseLostException;
import io.holdfast.LockClient;
import io.holdfast.sql.SqlGuard;
import io.holdfast.testkit.servers.PostgresServer;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.UUID;
import javax.sql.DataSource;
import org.h2.jdbcx.JdbcDataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Locks and data in one database: the guard needs no table, and keeps the next hold out. */
class OwnRowsTest {

    /** No test makes this table. */
    private static final JdbcGuard GUARD = JdbcGuard.defaults().table("no_such_table");

    private final String name = "own:" + UUID.randomUUID();
    private DataSource database;
    private LockClient one;
    private LockClient two;

    @BeforeEach
    void connect() throws Exception {
        database = Database.POSTGRESQL.source();
        String store = Database.POSTGRESQL.url() + "&createTable=true";
        one = LockClient.connect(store);
        two = LockClient.connect(store);
    }

    @AfterEach
    void close() {
        one.close();
        two.close();
    }

    @Test
    void noOtherHoldBeginsWhileTheTransactionIsOpen() throws Exception {
        Lease lease = one.acquire(name);
        try (Connection connection = begin(database)) {
            GUARD.check(connection, lease);
            lease.close();
            assertThat(two.tryAcquire(name)).isEmpty();
            connection.commit();
        }
        two.tryAcquire(name).orElseThrow().close();
    }

    @Test
    void aGuardedDataSourceChecksByTheRow() throws Exception {
        Lease lease = one.acquire(name);
        try (Connection connection = begin(GUARD.guarded(database, () -> List.of(lease)))) {
            Database.execute(connection, "SELECT 1");
            lease.close();
            assertThat(two.tryAcquire(name)).isEmpty();
            connection.commit();
        }
        two.tryAcquire(name).orElseThrow().close();
    }

    /** The first half of the work is lost, and the row does not show it. */
    @Test
    void aTransactionThatWasReplacedIsRefusedAtItsCommit() throws Exception {
        try (Lease lease = one.acquire(name);
                Connection connection = begin(GUARD.guarded(database, () -> List.of(lease)))) {
            Database.execute(connection, "SELECT 1");
            // Not closed: it is the connection's own.
            Connection around = connection.getMetaData().getConnection();
            around.rollback();
            Database.execute(around, "SELECT 1");
            assertThatThrownBy(connection::commit)
                    .isInstanceOf(LeaseLostException.class)
                    .hasMessageContaining("not the one that was checked");
        }
    }

    @Test
    void dataInAnotherDatabaseIsGuardedByTheTable() throws Exception {
        JdbcDataSource other = new JdbcDataSource();
        other.setURL("jdbc:h2:mem:" + UUID.randomUUID());
        try (Lease lease = one.acquire(name);
                Connection connection = begin(other)) {
            assertThatThrownBy(() -> GUARD.check(connection, lease))
                    .isInstanceOf(SQLException.class)
                    .hasMessageContaining("no_such_table");
        }
    }

    /** At the start of an application. */
    @Test
    void noTableIsRequiredWhereAllLocksAreInTheDatabase() throws Exception {
        try (LockClient memory = LockClient.connect("memory:" + name);
                Connection connection = database.getConnection()) {
            GUARD.requireTable(connection, List.of(one, two));
            assertThatThrownBy(() -> GUARD.requireTable(connection, List.of(one, memory)))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("no_such_table is not in the database");
            assertThatThrownBy(() -> GUARD.requireTable(connection, List.of()))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("no_such_table is not in the database");
        }
    }

    @Test
    void aMissingRightIsFoundAtTheStart() throws Exception {
        String role = "start" + UUID.randomUUID().toString().replace("-", "");
        try (Connection owner = database.getConnection()) {
            Database.execute(owner, "CREATE ROLE " + role + " LOGIN");
            Database.execute(owner, "GRANT SELECT ON holdfast_lock TO " + role);
        }
        String url = Database.POSTGRESQL.url().replace("user=test", "user=" + role);
        try (Connection connection = DriverManager.getConnection(url)) {
            assertThatThrownBy(() -> GUARD.requireTable(connection, List.of(one)))
                    .isInstanceOf(SQLException.class)
                    .hasMessageContaining("GRANT SELECT, UPDATE ON public.holdfast_lock TO");
        }
    }

    /** The same database and table by name, with a copy of the row, on a server that is not that of the locks. */
    @Test
    @Tag("deep") // starts another server
    void dataOnAnotherServerIsGuardedByTheTable() throws Exception {
        String other = PostgresServer.start().url();
        LockClient.connect(other + "&createTable=true").close();
        try (Lease lease = one.acquire(name);
                Connection connection = DriverManager.getConnection(other)) {
            Database.execute(
                    connection,
                    "INSERT INTO holdfast_lock (lock_key, base, holder, ends, settings, lease, queue, holders, contended,"
                            + " version, name) VALUES ('" + Keys.of(name) + "', " + base(lease) + ", '"
                            + lease.holderId() + "', clock_timestamp() + INTERVAL '1 hour', 0, 1, '', '', 0, 1, 'x')");
            connection.setAutoCommit(false);
            assertThat(SqlGuard.canCheck(connection, lease)).isFalse();
            assertThat(SqlGuard.canCheck(connection, one)).isFalse();
            assertThatThrownBy(() -> SqlGuard.check(connection, lease))
                    .isInstanceOf(SQLException.class)
                    .hasMessageContaining("another database or another server than the locks");
            connection.rollback();
            assertThatThrownBy(() -> GUARD.check(connection, lease))
                    .isInstanceOf(SQLException.class)
                    .hasMessageContaining("no_such_table");
            connection.rollback();
            GUARD.table("guard_there").createTable(connection);
            GUARD.table("guard_there").check(connection, lease);
            connection.commit();
        }
    }

    private long base(Lease lease) throws SQLException {
        try (Connection connection = database.getConnection();
                Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(
                        "SELECT base FROM holdfast_lock WHERE holder = '" + lease.holderId() + "'")) {
            assertThat(row.next()).isTrue();
            return row.getLong(1);
        }
    }

    private static Connection begin(DataSource source) throws SQLException {
        Connection connection = source.getConnection();
        connection.setAutoCommit(false);
        return connection;
    }
}
