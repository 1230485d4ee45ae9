package io.holdfast.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.Lease;
import io.holdfast.LeaseLostException;
import io.holdfast.LockClient;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.UUID;
import javax.sql.DataSource;
import org.h2.jdbcx.JdbcDataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
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

    private static Connection begin(DataSource source) throws SQLException {
        Connection connection = source.getConnection();
        connection.setAutoCommit(false);
        return connection;
    }
}
