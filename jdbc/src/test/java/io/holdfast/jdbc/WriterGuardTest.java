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
import org.h2.jdbcx.JdbcDataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A lock and a read-write lock may have one name, and are two things. */
class WriterGuardTest {

    private static final JdbcGuard GUARD = JdbcGuard.defaults();

    private final JdbcDataSource database = new JdbcDataSource();
    private LockClient locks;

    @BeforeEach
    void open() throws SQLException {
        database.setURL("jdbc:h2:mem:" + UUID.randomUUID() + ";DB_CLOSE_DELAY=-1");
        try (Connection connection = database.getConnection()) {
            GUARD.createTable(connection);
        }
        locks = LockClient.connect("memory:" + UUID.randomUUID());
    }

    @AfterEach
    void close() {
        locks.close();
    }

    @Test
    void aLaterLeaseOnTheLockRefusesNoWriter() throws Exception {
        try (Lease writer = locks.acquireWrite("export");
                Lease lock = locks.acquire("export")) {
            assertThat(writer.fencingToken()).isLessThan(lock.fencingToken());
            check(lock);
            check(writer);
            check(lock);
        }
    }

    @Test
    void aTransactionMayDependOnBoth() throws Exception {
        try (Lease writer = locks.acquireWrite("export");
                Lease lock = locks.acquire("export");
                Connection connection = begin()) {
            GUARD.check(connection, lock, writer);
            connection.commit();
        }
    }

    @Test
    void aGuardedDataSourceChecksBoth() throws Exception {
        try (Lease writer = locks.acquireWrite("export");
                Lease lock = locks.acquire("export");
                Connection connection =
                        GUARD.guarded(database, () -> List.of(writer, lock)).getConnection()) {
            connection.setAutoCommit(false);
            for (int i = 0; i < 2; i++) {
                Database.execute(connection, "SELECT 1", "SELECT 2");
                connection.commit();
            }
        }
    }

    @Test
    void anOldWriterIsRefused() throws Exception {
        try (Connection connection = begin();
                Lease old = locks.acquireWrite("export")) {
            GUARD.check(connection, old);
            connection.commit();
            String token = "UPDATE holdfast_guard SET token = token + 1";
            Database.execute(connection, token);
            connection.commit();
            assertThatThrownBy(() -> GUARD.check(connection, old)).isInstanceOf(LeaseLostException.class);
        }
    }

    private void check(Lease lease) throws SQLException {
        try (Connection connection = begin()) {
            GUARD.check(connection, lease);
            connection.commit();
        }
    }

    private Connection begin() throws SQLException {
        Connection connection = database.getConnection();
        connection.setAutoCommit(false);
        return connection;
    }
}
