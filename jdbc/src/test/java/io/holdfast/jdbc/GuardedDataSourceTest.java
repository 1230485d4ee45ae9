package io.holdfast.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.Lease;
import io.holdfast.LeaseLostException;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.sql.Statement;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import javax.sql.DataSource;
import org.h2.jdbcx.JdbcDataSource;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.postgresql.ds.PGSimpleDataSource;

/** Transactions that begin with the check by themselves. */
class GuardedDataSourceTest {

    private static final String TOKEN = "SELECT token FROM holdfast_guard";

    private final String name = "order:1";
    private final JdbcDataSource database = new JdbcDataSource();
    private List<Lease> leases = List.of();
    private final DataSource guarded = JdbcGuard.defaults().guarded(database, () -> leases);

    @BeforeEach
    void makeTables() throws SQLException {
        database.setURL("jdbc:h2:mem:" + UUID.randomUUID() + ";DB_CLOSE_DELAY=-1;LOCK_TIMEOUT=1000");
        try (Connection connection = database.getConnection()) {
            JdbcGuard.defaults().createTable(connection);
            Database.execute(connection, "CREATE TABLE work (n INT)");
        }
    }

    private Connection begin() throws SQLException {
        Connection connection = guarded.getConnection();
        connection.setAutoCommit(false);
        return connection;
    }

    /** Reads what is committed. */
    private long committed(String query) throws SQLException {
        try (Connection connection = database.getConnection();
                Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery(query)) {
            return rows.next() ? rows.getLong(1) : -1;
        }
    }

    private static void work(Connection connection) throws SQLException {
        Database.execute(connection, "INSERT INTO work VALUES (1)");
    }

    @Test
    void a_transaction_begins_with_the_check() throws SQLException {
        leases = List.of(new StubLease(name, 5));
        try (Connection connection = begin();
                PreparedStatement insert = connection.prepareStatement("INSERT INTO work VALUES (?)")) {
            insert.setInt(1, 1);
            insert.executeUpdate();
            connection.commit();
            assertThat(committed(TOKEN)).isEqualTo(5);
            // A statement that was prepared in an earlier transaction.
            leases = List.of(new StubLease(name, 6));
            insert.executeUpdate();
            connection.commit();
            assertThat(committed(TOKEN)).isEqualTo(6);
        }
    }

    @Test
    void the_old_holder_is_refused_at_its_first_statement_and_cannot_commit() throws SQLException {
        leases = List.of(new StubLease(name, 5));
        try (Connection connection = begin()) {
            work(connection);
            connection.commit();
            leases = List.of(new StubLease(name, 4));
            assertThatThrownBy(() -> work(connection)).isInstanceOf(LeaseLostException.class);
            assertThatThrownBy(() -> work(connection))
                    .isInstanceOf(SQLException.class)
                    .hasMessageContaining("must be rolled back")
                    .hasCauseInstanceOf(LeaseLostException.class);
            assertThatThrownBy(connection::commit).isInstanceOf(SQLException.class);
            // As frameworks do next; there is nothing left to commit.
            connection.setAutoCommit(true);
            assertThat(committed("SELECT COUNT(*) FROM work")).isEqualTo(1);
            connection.setAutoCommit(false);
            leases = List.of(new StubLease(name, 6));
            work(connection);
            connection.commit();
            assertThat(committed("SELECT COUNT(*) FROM work")).isEqualTo(2);
        }
    }

    @Test
    void without_a_lease_and_in_autocommit_there_is_no_check() throws SQLException {
        try (Connection connection = begin()) {
            work(connection);
            connection.commit();
            leases = List.of(new StubLease(name, 5));
            connection.setAutoCommit(true);
            work(connection);
        }
        assertThat(committed(TOKEN)).isEqualTo(-1);
    }

    /** PostgreSQL would refuse the statement of the check. */
    @Test
    void a_read_only_transaction_is_not_checked() throws SQLException {
        PGSimpleDataSource postgres = new PGSimpleDataSource();
        postgres.setUrl(Database.POSTGRESQL.url());
        leases = List.of(new StubLease(name, 5));
        try (Connection connection =
                JdbcGuard.defaults().guarded(postgres, () -> leases).getConnection()) {
            connection.setReadOnly(true);
            connection.setAutoCommit(false);
            Database.execute(connection, "SELECT 1");
            connection.commit();
        }
    }

    /** H2 ignores the mark and accepts writes, so the check is needed. */
    @Test
    void a_connection_that_is_read_only_by_name_alone_is_checked() throws SQLException {
        leases = List.of(new StubLease(name, 5));
        try (Connection connection = begin()) {
            connection.setReadOnly(true);
            work(connection);
            connection.commit();
        }
        assertThat(committed(TOKEN)).isEqualTo(5);
    }

    @Test
    void a_lease_acquired_inside_the_transaction_is_checked_at_the_next_statement() throws SQLException {
        StubLease first = new StubLease(name, 5);
        leases = List.of(first);
        try (Connection connection = begin()) {
            work(connection);
            leases = List.of(first, new StubLease("order:2", 7));
            work(connection);
            connection.commit();
        }
        assertThat(committed("SELECT COUNT(*) FROM holdfast_guard")).isEqualTo(2);
    }

    @Test
    void the_check_is_before_a_savepoint() throws Exception {
        leases = List.of(new StubLease(name, 5));
        try (Connection connection = begin()) {
            Savepoint savepoint = connection.setSavepoint();
            work(connection);
            connection.rollback(savepoint);
            work(connection);
            assertBusyElsewhere();
            connection.commit();
        }
        assertThat(committed(TOKEN)).isEqualTo(5);
    }

    private void assertBusyElsewhere() {
        assertThatThrownBy(() -> CompletableFuture.runAsync(() -> {
                            try (Connection other = database.getConnection()) {
                                other.setAutoCommit(false);
                                JdbcGuard.defaults().check(other, new StubLease(name, 6));
                            } catch (SQLException e) {
                                throw new IllegalStateException(e);
                            }
                        })
                        .get(10, TimeUnit.SECONDS))
                .hasStackTraceContaining("did not end in time");
    }

    /** REQUIRES_NEW: a check of the inner transaction would wait for the row of its own thread. */
    @Test
    void an_inner_transaction_is_covered_by_the_outer_one() throws Exception {
        leases = List.of(new StubLease(name, 5));
        try (Connection outer = begin()) {
            work(outer);
            try (Connection inner = begin()) {
                work(inner);
                inner.commit();
            }
            assertBusyElsewhere();
            outer.commit();
        }
        assertThat(committed("SELECT COUNT(*) FROM work")).isEqualTo(2);
    }

    @Test
    void a_transaction_that_outlives_the_one_that_covered_it_is_checked_before_its_commit() throws Exception {
        leases = List.of(new StubLease(name, 5));
        try (Connection first = begin();
                Connection second = begin();
                Connection young = database.getConnection()) {
            work(first);
            work(second);
            first.commit();
            young.setAutoCommit(false);
            JdbcGuard.defaults().check(young, new StubLease(name, 6));
            young.commit();
            assertThatThrownBy(second::commit).isInstanceOf(LeaseLostException.class);
            second.rollback();
        }
        assertThat(committed("SELECT COUNT(*) FROM work")).isEqualTo(1);
    }

    @Test
    void another_thread_with_the_same_lease_waits() throws Exception {
        leases = List.of(new StubLease(name, 5));
        try (Connection connection = begin()) {
            work(connection);
            assertThatThrownBy(() -> CompletableFuture.runAsync(() -> {
                                try (Connection other = begin()) {
                                    work(other);
                                } catch (SQLException e) {
                                    throw new IllegalStateException(e);
                                }
                            })
                            .get(10, TimeUnit.SECONDS))
                    .hasStackTraceContaining("did not end in time");
            connection.commit();
        }
    }

    @Test
    void it_is_a_connection_as_any_other() throws Exception {
        leases = List.of(new StubLease(name, 5));
        DataSource twice = JdbcGuard.defaults().guarded(guarded, () -> leases);
        try (Connection connection = twice.getConnection();
                Statement statement = connection.createStatement()) {
            assertThat(List.of(connection)).contains(connection).doesNotContain(begin());
            assertThat(statement.getConnection()).isSameAs(connection);
            assertThat(connection.unwrap(org.h2.jdbc.JdbcConnection.class)).isNotNull();
            assertThat(twice.unwrap(JdbcDataSource.class)).isSameAs(database);
            assertThatThrownBy(() -> statement.execute("SELECT nothing"))
                    .isInstanceOf(SQLException.class)
                    .hasNoCause();
            connection.setAutoCommit(false);
            assertThatCode(() -> work(connection)).doesNotThrowAnyException();
            connection.commit();
        }
    }
}
