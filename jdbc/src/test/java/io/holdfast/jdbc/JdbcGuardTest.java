package io.holdfast.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.LeaseLostException;
import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Each statement of the guard on each real database, and at each isolation level. */
class JdbcGuardTest {

    private static final JdbcGuard GUARD = JdbcGuard.defaults();

    private final String name = "order:" + UUID.randomUUID();

    static Stream<Arguments> levels() {
        return Stream.of(Database.values())
                .flatMap(database -> Stream.of(
                                Connection.TRANSACTION_READ_COMMITTED,
                                Connection.TRANSACTION_REPEATABLE_READ,
                                Connection.TRANSACTION_SERIALIZABLE)
                        .map(level -> Arguments.of(database, level)));
    }

    private static Connection open(Database database, int level) throws SQLException {
        Connection connection = database.connect();
        GUARD.createTable(connection);
        connection.setTransactionIsolation(level);
        connection.setAutoCommit(false);
        return connection;
    }

    private static Connection open(Database database) throws SQLException {
        return open(database, Connection.TRANSACTION_READ_COMMITTED);
    }

    @ParameterizedTest
    @MethodSource("levels")
    void larger_and_equal_tokens_pass_and_smaller_ones_do_not(Database database, int level) throws SQLException {
        try (Connection connection = open(database, level)) {
            for (long token : new long[] {5, 5, 6, 1L << 62}) {
                GUARD.check(connection, new StubLease(name, token));
                connection.commit();
            }
            for (long token : new long[] {6, 1, (1L << 62) - 1}) {
                assertThatThrownBy(() -> GUARD.check(connection, new StubLease(name, token)))
                        .isInstanceOf(LeaseLostException.class)
                        .hasMessageContaining("must be rolled back")
                        .hasMessageContaining("token " + token + " ")
                        .hasMessageContaining("token " + (1L << 62))
                        .hasMessageContaining("holder hf-test:" + (1L << 62))
                        .hasMessageContaining("raise the guard's epoch above 0");
                connection.rollback();
            }
            GUARD.check(connection, new StubLease(name, 1L << 62));
            connection.commit();
        }
    }

    @ParameterizedTest
    @EnumSource
    void equal_tokens_of_two_holders_are_ordered_by_holder_id(Database database) throws SQLException {
        try (Connection connection = open(database)) {
            GUARD.check(connection, new StubLease(name, 7, "hf-a:2"));
            GUARD.check(connection, new StubLease(name, 7, "hf-b:1"));
            assertThatThrownBy(() -> GUARD.check(connection, new StubLease(name, 7, "hf-a:2")))
                    .isInstanceOf(LeaseLostException.class)
                    .hasMessageContaining("holder hf-b:1");
            GUARD.check(connection, new StubLease(name, 7, "hf-b:1"));
            // By the codes of the characters, whatever the language of the database: "-" is before ":" and both before
            // letters.
            GUARD.check(connection, new StubLease(name, 8, "hf-b-1:z"));
            GUARD.check(connection, new StubLease(name, 8, "hf-b:1"));
            assertThatThrownBy(() -> GUARD.check(connection, new StubLease(name, 8, "hf-b-1:z")))
                    .isInstanceOf(LeaseLostException.class);
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_larger_epoch_counts_before_the_token(Database database) throws SQLException {
        try (Connection connection = open(database)) {
            GUARD.check(connection, new StubLease(name, 1000));
            GUARD.epoch(1).check(connection, new StubLease(name, 3));
            GUARD.epoch(1).check(connection, new StubLease(name, 4));
            assertThatThrownBy(() -> GUARD.check(connection, new StubLease(name, 2000)))
                    .isInstanceOf(LeaseLostException.class)
                    .hasMessageContaining("epoch 1")
                    .hasMessageContaining("above 1");
            assertThatThrownBy(() -> GUARD.epoch(1).check(connection, new StubLease(name, 3)))
                    .isInstanceOf(LeaseLostException.class);
            GUARD.epoch(2).check(connection, new StubLease(name, 1, "hf-a:1"));
        }
    }

    @ParameterizedTest
    @EnumSource
    void names_that_a_collation_takes_for_equal_have_a_row_each(Database database) throws SQLException {
        try (Connection connection = open(database)) {
            long token = 9;
            for (String each :
                    new String[] {name + "a", name + "A", name + "a ", name + "\u00e4", name + "\0\ud83d\ude00"}) {
                GUARD.check(connection, new StubLease(each, token--));
            }
            GUARD.check(connection, new StubLease(name + "x".repeat(100_000), 1));
            connection.commit();
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_rollback_leaves_the_row_as_it_was(Database database) throws SQLException {
        try (Connection connection = open(database)) {
            GUARD.check(connection, new StubLease(name, 9));
            connection.rollback();
            GUARD.check(connection, new StubLease(name, 5));
            connection.commit();
        }
    }

    /** The row is locked to the end of the transaction, and the older of two waits for the younger and is refused. */
    @ParameterizedTest
    @EnumSource
    void the_old_holder_waits_for_the_new_one_and_is_refused(Database database) throws Exception {
        try (Connection old = open(database);
                Connection young = open(database)) {
            GUARD.check(young, new StubLease(name, 2));
            CompletableFuture<Void> oldCheck = CompletableFuture.runAsync(() -> check(old, new StubLease(name, 1)));
            assertThatThrownBy(() -> oldCheck.get(300, TimeUnit.MILLISECONDS)).isInstanceOf(TimeoutException.class);
            young.commit();
            assertThatThrownBy(() -> oldCheck.get(10, TimeUnit.SECONDS))
                    .hasRootCauseInstanceOf(LeaseLostException.class);
        }
    }

    /** Whichever of the two is first, the other waits, even where the row was never there. */
    @ParameterizedTest
    @MethodSource("levels")
    void the_new_holder_waits_for_the_old_one_and_sees_its_work(Database database, int level) throws Exception {
        oldThenNew(database, level, false);
        oldThenNew(database, level, true);
    }

    private static void oldThenNew(Database database, int level, boolean rowExists) throws Exception {
        String name = "order:" + UUID.randomUUID();
        try (Connection old = open(database, level);
                Connection young = open(database, level)) {
            String table = "work" + Integer.toUnsignedString(name.hashCode());
            try (Connection admin = database.connect()) {
                Database.execute(admin, "CREATE TABLE " + table + " (n INT)", "INSERT INTO " + table + " VALUES (0)");
            }
            if (rowExists) {
                GUARD.check(old, new StubLease(name, 1));
                old.commit();
            }
            GUARD.check(old, new StubLease(name, 1));
            Database.execute(old, "UPDATE " + table + " SET n = 1");
            CompletableFuture<Integer> seen = CompletableFuture.supplyAsync(() -> {
                check(young, new StubLease(name, 2));
                return read(young, table);
            });
            assertThatThrownBy(() -> seen.get(300, TimeUnit.MILLISECONDS)).isInstanceOf(TimeoutException.class);
            old.commit();
            try {
                assertThat(seen.get(10, TimeUnit.SECONDS)).isEqualTo(1);
            } catch (java.util.concurrent.ExecutionException e) {
                // Where snapshots begin with the statement that waits, the database asks for a repetition.
                assertThat(level).isNotEqualTo(Connection.TRANSACTION_READ_COMMITTED);
                assertThat(sqlState(e)).isEqualTo("40001");
                young.rollback();
                check(young, new StubLease(name, 2));
                assertThat(read(young, table)).isEqualTo(1);
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_stopped_holder_with_an_open_transaction_is_named_when_the_wait_is_too_long(Database database)
            throws Exception {
        try (Connection old = open(database);
                Connection young = open(database)) {
            database.lockTimeout(young, 1);
            young.commit();
            GUARD.check(old, new StubLease(name, 1));
            assertThatThrownBy(() -> GUARD.check(young, new StubLease(name, 2)))
                    .isInstanceOf(SQLException.class)
                    .hasMessageContaining("another transaction under the lock \"" + name + "\" did not end in time")
                    .hasMessageContainingAll("may have been stopped", "of the database")
                    .extracting(e -> ((SQLException) e).getSQLState())
                    .isNotNull();
        }
    }

    @ParameterizedTest
    @EnumSource
    void several_names_are_taken_in_one_order(Database database) throws Exception {
        try (Connection one = open(database);
                Connection two = open(database)) {
            for (int i = 0; i < 20; i++) {
                long token = i;
                CompletableFuture<Void> first = CompletableFuture.runAsync(() -> {
                    check(one, new StubLease(name + "a", token), new StubLease(name + "b", token));
                    commit(one);
                });
                CompletableFuture<Void> second = CompletableFuture.runAsync(() -> {
                    check(two, new StubLease(name + "b", token), new StubLease(name + "a", token));
                    commit(two);
                });
                CompletableFuture.allOf(first, second).get(30, TimeUnit.SECONDS);
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void purge_deletes_what_is_unused_for_longer(Database database) throws SQLException {
        try (Connection connection = open(database)) {
            JdbcGuard own = GUARD.table("purged");
            own.createTable(connection);
            own.check(connection, new StubLease(name + "old", 1));
            own.check(connection, new StubLease(name + "new", 1));
            Database.execute(
                    connection,
                    "UPDATE purged SET used_at = used_at - " + database.interval(25, "HOUR")
                            + " WHERE name LIKE '%old'");
            connection.commit();
            assertThat(own.purge(connection, Duration.ofHours(26))).isZero();
            assertThat(own.purge(connection, Duration.ofHours(24))).isEqualTo(1);
            connection.commit();
            assertThat(read(connection, "(SELECT COUNT(*) AS n FROM purged) AS p"))
                    .isEqualTo(1);
            assertThatThrownBy(() -> own.purge(connection, Duration.ofHours(23)))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("PT23H")
                    .hasMessageContaining("at least PT24H");
        }
    }

    /** On MariaDB one statement for all rows waited for the open transaction, and everybody else for that statement. */
    @ParameterizedTest
    @EnumSource
    void purge_neither_waits_for_open_transactions_nor_stops_others(Database database) throws Exception {
        JdbcGuard own = GUARD.table("purged_beside_work");
        try (Connection purging = open(database);
                Connection working = open(database);
                Connection other = open(database)) {
            own.createTable(purging);
            for (String each : new String[] {"a", "b", "c", "old1", "old2"}) {
                own.check(purging, new StubLease(name + each, 1));
            }
            Database.execute(
                    purging,
                    "UPDATE purged_beside_work SET used_at = used_at - " + database.interval(25, "HOUR")
                            + " WHERE name LIKE '%old_'");
            purging.commit();
            database.lockTimeout(purging, 2);
            database.lockTimeout(other, 2);
            purging.commit();
            other.commit();
            own.check(working, new StubLease(name + "a", 2));
            assertThat(own.purge(purging, Duration.ofHours(24))).isEqualTo(2);
            for (String each : new String[] {"b", "c", "new"}) {
                own.check(other, new StubLease(name + each, 2));
            }
        }
    }

    /** Without the row that was raised meanwhile, an older token would be accepted. */
    @ParameterizedTest
    @EnumSource
    void purge_keeps_a_row_that_is_raised_meanwhile(Database database) throws Exception {
        JdbcGuard own = GUARD.table("raised_meanwhile");
        try (Connection purging = open(database);
                Connection working = open(database)) {
            own.createTable(purging);
            own.check(purging, new StubLease(name, 1));
            Database.execute(
                    purging, "UPDATE raised_meanwhile SET used_at = used_at - " + database.interval(25, "HOUR"));
            purging.commit();
            own.check(working, new StubLease(name, 2));
            CompletableFuture<Integer> purge = CompletableFuture.supplyAsync(() -> {
                try {
                    return own.purge(purging, Duration.ofHours(24));
                } catch (SQLException e) {
                    throw new IllegalStateException(e);
                }
            });
            Thread.sleep(300);
            working.commit();
            assertThat(purge.get(10, TimeUnit.SECONDS)).isZero();
            purging.commit();
            assertThatThrownBy(() -> own.check(working, new StubLease(name, 1))).isInstanceOf(LeaseLostException.class);
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_missing_table_is_named_with_the_statement_that_makes_it(Database database) throws SQLException {
        try (Connection connection = open(database)) {
            GUARD.requireTable(connection);
            JdbcGuard none = GUARD.table("no_such_guard");
            assertThatThrownBy(() -> none.requireTable(connection))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("The guard's table no_such_guard is not in the database")
                    .hasMessageContaining("CREATE TABLE IF NOT EXISTS no_such_guard (lock_key")
                    .hasCauseInstanceOf(SQLException.class);
            connection.rollback();
            assertThatThrownBy(() -> none.check(connection, new StubLease(name, 1)))
                    .isInstanceOf(SQLException.class)
                    .hasMessageContaining("CREATE TABLE IF NOT EXISTS no_such_guard (lock_key");
        }
    }

    /** A connection with a missing right, here the one to lock rows, is not a missing table. */
    @Test
    void a_table_that_cannot_be_asked_for_another_reason_is_the_failure_of_the_driver() throws SQLException {
        String role = "reader" + Integer.toHexString(name.hashCode());
        try (Connection connection = open(Database.POSTGRESQL)) {
            Database.execute(
                    connection,
                    "CREATE ROLE " + role,
                    "GRANT SELECT ON holdfast_guard TO " + role,
                    "SET LOCAL ROLE " + role);
            assertThatThrownBy(() -> GUARD.requireTable(connection))
                    .isInstanceOf(SQLException.class)
                    .extracting(JdbcGuardTest::sqlState)
                    .isEqualTo("42501");
            connection.rollback();
        }
    }

    /** As SQLite and SQL Server, whose {@code SELECT} has no {@code FOR UPDATE}. */
    @Test
    void a_database_that_cannot_lock_a_row_is_named_with_those_that_can() throws SQLException {
        try (Connection h2 = open(Database.H2)) {
            Connection other = Calls.proxy(Connection.class, (self, method, arguments) -> {
                if (method.getName().equals("getMetaData")) {
                    return Calls.proxy(DatabaseMetaData.class, (data, name, none) -> "SQLite");
                }
                if (method.getName().equals("prepareStatement") && ((String) arguments[0]).endsWith("FOR UPDATE")) {
                    throw new SQLException("near \"FOR\": syntax error");
                }
                return Calls.call(h2, method, arguments);
            });
            assertThatThrownBy(() -> GUARD.requireTable(other))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessage(
                            "The guard cannot lock a row of its table holdfast_guard with SELECT FOR UPDATE on SQLite"
                                    + " (expected: the table on PostgreSQL, MySQL, MariaDB or H2): near \"FOR\": syntax error");
        }
    }

    @Test
    void after_a_purge_an_old_holder_is_refused_by_its_own_lease() throws SQLException {
        try (Connection connection = open(Database.H2)) {
            StubLease lost = new StubLease(name, 1);
            lost.lose();
            assertThatThrownBy(() -> GUARD.check(connection, lost)).isInstanceOf(LeaseLostException.class);
        }
    }

    @Test
    void mistakes_are_refused_with_a_sentence() throws SQLException {
        try (Connection connection = open(Database.H2)) {
            assertThatThrownBy(() -> GUARD.check(connection))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("No lease");
            assertThatThrownBy(() -> GUARD.check(connection, new StubLease(name, 1), new StubLease(name, 2)))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("Two leases");
            StubLease twice = new StubLease(name, 3);
            GUARD.check(connection, twice, twice);
            connection.rollback();
            connection.setAutoCommit(true);
            assertThatThrownBy(() -> GUARD.check(connection, new StubLease(name, 1)))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("setAutoCommit(false)");
        }
        assertThatThrownBy(() -> GUARD.table("guard; DROP TABLE x"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("guard; DROP TABLE x");
        assertThatThrownBy(() -> GUARD.epoch(-1)).isInstanceOf(IllegalArgumentException.class);
    }

    private static void check(Connection connection, StubLease... leases) {
        try {
            GUARD.check(connection, leases);
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    private static void commit(Connection connection) {
        try {
            connection.commit();
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    private static int read(Connection connection, String table) {
        try (Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery("SELECT n FROM " + table)) {
            assertThat(rows.next()).isTrue();
            return rows.getInt(1);
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    static String sqlState(Throwable failure) {
        for (Throwable e = failure; e != null; e = e.getCause()) {
            if (e instanceof SQLException sql) {
                return String.valueOf(sql.getSQLState());
            }
        }
        return "none";
    }
}
