package io.holdfast.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.Lease;
import io.holdfast.LeaseLostException;
import java.io.StringReader;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.CallableStatement;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.postgresql.PGConnection;

/**
 * What commits under a lock is checked at the commit, in the transaction that commits. In each schedule an old holder
 * has read a balance of 100, a new holder sets it to 200, and the old one writes 90 from what it read.
 */
class GuardedCommitTest {

    private static final JdbcGuard GUARD = JdbcGuard.defaults();

    private final String name = "account:" + UUID.randomUUID();
    private final StubLease old = new StubLease(name, 4);
    private List<Lease> leases = List.of(old);
    private @Nullable DataSource guarded;

    /** Begins a guarded transaction. */
    private Connection begin(Database database) throws SQLException {
        return begin(guarded(database));
    }

    private DataSource guarded(Database database) throws SQLException {
        if (guarded == null) {
            guarded = GUARD.guarded(database.source(), () -> leases);
        }
        return guarded;
    }

    private static Connection begin(DataSource source) throws SQLException {
        Connection connection = source.getConnection();
        connection.setAutoCommit(false);
        return connection;
    }

    private void prepare(Database database) throws SQLException {
        try (Connection connection = database.connect()) {
            GUARD.createTable(connection);
            Database.execute(
                    connection,
                    "CREATE TABLE IF NOT EXISTS accounts (id VARCHAR(100) NOT NULL PRIMARY KEY, n INT NOT NULL)",
                    "CREATE TABLE IF NOT EXISTS emptied (n INT NOT NULL)",
                    "INSERT INTO accounts VALUES ('" + name + "', 100)",
                    "INSERT INTO accounts VALUES ('" + name + "a', 1)",
                    "INSERT INTO accounts VALUES ('" + name + "b', 1)");
        }
    }

    private void set(Connection connection, int balance) throws SQLException {
        Database.execute(connection, setting(balance));
    }

    private String setting(int balance) {
        return "UPDATE accounts SET n = " + balance + " WHERE id = '" + name + "'";
    }

    private void touch(Connection connection, String other) throws SQLException {
        Database.execute(connection, "UPDATE accounts SET n = n + 1 WHERE id = '" + name + other + "'");
    }

    private int read(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery("SELECT n FROM accounts WHERE id = '" + name + "'")) {
            assertThat(rows.next()).isTrue();
            return rows.getInt(1);
        }
    }

    private int committed(Database database) throws SQLException {
        try (Connection connection = database.connect()) {
            return read(connection);
        }
    }

    /** The new holder sets the balance to 200, in another process. */
    private void newHolderWorks(Database database) throws SQLException {
        try (Connection connection = database.connect()) {
            connection.setAutoCommit(false);
            GUARD.check(connection, new StubLease(name, 5));
            set(connection, 200);
            connection.commit();
        }
    }

    private void checkInAnotherProcess(Database database, long token) throws SQLException {
        try (Connection connection = database.connect()) {
            connection.setAutoCommit(false);
            GUARD.check(connection, new StubLease(name, token));
            connection.commit();
        }
    }

    private static long session(Database database, Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery(
                        switch (database) {
                            case POSTGRESQL -> "SELECT pg_backend_pid()";
                            case MARIADB, MYSQL -> "SELECT CONNECTION_ID()";
                            case H2 -> "SELECT SESSION_ID()";
                        })) {
            assertThat(rows.next()).isTrue();
            return rows.getLong(1);
        }
    }

    /** Begins a transaction that has written, and that the database soon ends because it does nothing. */
    private Connection idle(Database database) throws SQLException {
        Connection outer = guarded(database).getConnection();
        switch (database) {
            case POSTGRESQL -> Database.execute(outer, "SET idle_in_transaction_session_timeout = '1s'");
            case MARIADB -> Database.execute(outer, "SET SESSION idle_transaction_timeout = 1");
            case MYSQL -> Database.execute(outer, "SET SESSION wait_timeout = 1");
            default -> {}
        }
        long session = session(database, outer);
        outer.setAutoCommit(false);
        touch(outer, "a");
        if (database == Database.H2) {
            try (Connection admin = database.connect()) {
                Database.execute(admin, "CALL ABORT_SESSION(" + session + ")");
            }
        }
        return outer;
    }

    @ParameterizedTest
    @EnumSource
    void an_inner_transaction_is_refused_after_the_database_has_ended_the_outer_one(Database database)
            throws Exception {
        prepare(database);
        try (Connection outer = begin(database);
                Connection inner = begin(database)) {
            touch(outer, "a");
            touch(inner, "b");
            end(database, outer);
            newHolderWorks(database);
            set(inner, 90);
            assertThatThrownBy(inner::commit)
                    .isInstanceOf(LeaseLostException.class)
                    .hasMessageContaining("the database has ended the outer transaction");
            inner.setAutoCommit(true);
            assertThat(committed(database)).isEqualTo(200);
        }
    }

    private static void end(Database database, Connection outer) throws SQLException {
        long session = session(database, outer);
        try (Connection admin = database.connect()) {
            Database.execute(
                    admin,
                    switch (database) {
                        case POSTGRESQL -> "SELECT pg_terminate_backend(" + session + ")";
                        case MARIADB, MYSQL -> "KILL CONNECTION " + session;
                        case H2 -> "CALL ABORT_SESSION(" + session + ")";
                    });
        }
    }

    /** A real idle timeout, but for H2. */
    @ParameterizedTest
    @EnumSource
    void an_inner_transaction_that_has_not_begun_checks_for_itself(Database database) throws Exception {
        prepare(database);
        try (Connection outer = idle(database);
                Connection inner = begin(database)) {
            newHolderWorks(database); // waits for the end of the outer transaction
            assertThatThrownBy(() -> set(inner, 90)).isInstanceOf(LeaseLostException.class);
            assertThatThrownBy(inner::commit).isInstanceOf(SQLException.class);
            leases = List.of();
            assertThatThrownBy(outer::commit).isInstanceOf(SQLException.class);
        }
        assertThat(committed(database)).isEqualTo(200);
        leases = List.of(new StubLease(name, 6));
        try (Connection outer = idle(database);
                Connection inner = begin(database)) {
            checkInAnotherProcess(database, 6); // waits too
            set(inner, 90);
            inner.commit();
            assertThatThrownBy(outer::commit).isInstanceOf(SQLException.class);
        }
        assertThat(committed(database)).isEqualTo(90);
    }

    @ParameterizedTest
    @EnumSource
    void an_inner_transaction_works_after_a_caught_error_of_the_outer_one(Database database) throws Exception {
        prepare(database);
        try (Connection outer = begin(database);
                Connection inner = begin(database)) {
            touch(outer, "a");
            assertThatThrownBy(() -> Database.execute(outer, "INSERT INTO no_such_table VALUES (1)"))
                    .isInstanceOf(SQLException.class);
            set(inner, 90);
            inner.commit();
            outer.rollback();
        }
        assertThat(committed(database)).isEqualTo(90);
    }

    /** The failed part of the outer transaction has ended, and its beginning still locks the row. */
    @Test
    void an_inner_transaction_does_not_wait_for_an_outer_one_that_failed_after_a_savepoint() throws Exception {
        prepare(Database.POSTGRESQL);
        try (Connection outer = begin(Database.POSTGRESQL);
                Connection inner = begin(Database.POSTGRESQL)) {
            touch(outer, "a");
            Savepoint savepoint = outer.setSavepoint();
            assertThatThrownBy(() -> Database.execute(outer, "INSERT INTO no_such_table VALUES (1)"))
                    .isInstanceOf(SQLException.class);
            assertThatThrownBy(() -> set(inner, 90))
                    .isInstanceOf(SQLException.class)
                    .hasMessageContaining("savepoint");
            inner.rollback();
            outer.rollback(savepoint);
            set(inner, 90);
            inner.commit();
            outer.commit();
        }
        assertThat(committed(Database.POSTGRESQL)).isEqualTo(90);
    }

    @ParameterizedTest
    @EnumSource
    void an_inner_transaction_works_after_the_outer_one_went_back_to_a_savepoint(Database database) throws Exception {
        prepare(database);
        try (Connection outer = begin(database);
                Connection inner = begin(database)) {
            touch(outer, "a");
            Savepoint savepoint = outer.setSavepoint();
            touch(outer, "a");
            outer.rollback(savepoint);
            set(inner, 90);
            inner.commit();
            touch(outer, "b");
            outer.commit();
        }
        assertThat(committed(database)).isEqualTo(90);
    }

    /** As a driver whose connection is busy with a result that it still receives. */
    @Test
    void an_inner_transaction_is_refused_if_the_outer_one_cannot_be_asked() throws Exception {
        prepare(Database.H2);
        boolean[] busy = {false};
        DataSource target = Database.H2.source();
        DataSource source = proxy(
                DataSource.class,
                target,
                (method, result) -> result instanceof Connection connection
                        ? proxy(Connection.class, connection, (inner, value) -> {
                            if (busy[0] && inner.equals("prepareStatement")) {
                                throw new SQLException("a streaming result set is still active", "S1000");
                            }
                            return value;
                        })
                        : result);
        DataSource guarded = GUARD.guarded(source, () -> leases);
        try (Connection outer = begin(guarded);
                Connection inner = begin(guarded)) {
            touch(outer, "a");
            busy[0] = true;
            assertThatThrownBy(() -> set(inner, 90)).hasMessageContaining("streaming");
            busy[0] = false;
            assertThatThrownBy(() -> set(inner, 90)).hasMessageContaining("must be rolled back");
            assertThatThrownBy(inner::commit).isInstanceOf(SQLException.class);
            outer.commit();
        }
        assertThat(committed(Database.H2)).isEqualTo(100);
    }

    private interface Answer {
        Object of(String method, Object result) throws Exception;
    }

    private static <T> T proxy(Class<T> type, T target, Answer answer) {
        return type.cast(Proxy.newProxyInstance(
                type.getClassLoader() == null ? GuardedCommitTest.class.getClassLoader() : type.getClassLoader(),
                new Class<?>[] {type},
                (self, method, arguments) -> {
                    try {
                        return answer.of(method.getName(), method.invoke(target, arguments));
                    } catch (InvocationTargetException e) {
                        throw e.getTargetException();
                    }
                }));
    }

    /** The database rolls the whole transaction back, and the next statement would begin another one. */
    @ParameterizedTest
    @EnumSource(names = {"MARIADB", "MYSQL"})
    void after_a_deadlock_only_a_rollback_is_accepted(Database database) throws Exception {
        prepare(database);
        try (Connection connection = begin(database);
                Connection other = database.connect()) {
            // So that a later transaction of the lease finds its triple in the row.
            touch(connection, "a");
            connection.commit();
            other.setAutoCommit(false);
            touch(connection, "a");
            // The database ends the transaction that has changed fewer rows, or the one that closes the ring.
            for (int i = 0; i < 20; i++) {
                Database.execute(other, "INSERT INTO emptied VALUES (1)");
            }
            touch(other, "b");
            CompletableFuture<Void> ring = CompletableFuture.runAsync(() -> {
                try {
                    touch(other, "a");
                } catch (SQLException e) {
                    throw new IllegalStateException(e);
                }
            });
            Thread.sleep(500);
            assertThatThrownBy(() -> touch(connection, "b"))
                    .isInstanceOf(SQLException.class)
                    .extracting(e -> ((SQLException) e).getSQLState())
                    .isEqualTo("40001");
            ring.get(10, TimeUnit.SECONDS);
            other.rollback();
            newHolderWorks(database);
            assertThatThrownBy(() -> set(connection, 90)).hasMessageContaining("must be rolled back");
            assertThatThrownBy(() -> Database.execute(connection, "CREATE TABLE IF NOT EXISTS made (n INT)"))
                    .hasMessageContaining("must be rolled back");
            assertThatThrownBy(connection::commit).isInstanceOf(SQLException.class);
        }
        assertThat(committed(database)).isEqualTo(200);
    }

    /** It ends one statement and not the transaction, whatever class of SQL state the driver gives it. */
    @ParameterizedTest
    @EnumSource(names = {"MARIADB", "MYSQL"})
    void after_a_wait_for_a_row_that_was_too_long_the_transaction_goes_on(Database database) throws Exception {
        prepare(database);
        try (Connection connection = begin(database);
                Connection other = database.connect()) {
            database.lockTimeout(connection, 1);
            other.setAutoCommit(false);
            touch(other, "a");
            set(connection, 90);
            assertThatThrownBy(() -> touch(connection, "a"))
                    .isInstanceOf(SQLException.class)
                    .extracting(e -> ((SQLException) e).getErrorCode())
                    .isEqualTo(1205);
            touch(connection, "b");
            connection.commit();
        }
        assertThat(committed(database)).isEqualTo(90);
    }

    static Stream<Arguments> endings() {
        return Stream.of(
                Arguments.of(Database.POSTGRESQL, "COMMIT"),
                Arguments.of(Database.POSTGRESQL, "/* SELECT */ -- SELECT\n end"),
                Arguments.of(Database.POSTGRESQL, "SELECT 1; COMMIT"),
                Arguments.of(Database.POSTGRESQL, "ROLLBACK"),
                Arguments.of(Database.MARIADB, "COMMIT"),
                Arguments.of(Database.MARIADB, "/*!COMMIT */"),
                Arguments.of(Database.MARIADB, "TRUNCATE TABLE emptied"),
                Arguments.of(Database.MARIADB, "CREATE TABLE IF NOT EXISTS made (n INT)"),
                Arguments.of(Database.MARIADB, "CALL commits()"),
                Arguments.of(Database.MARIADB, "{call commits()}"),
                Arguments.of(Database.MYSQL, "COMMIT"),
                Arguments.of(Database.MYSQL, "/*!COMMIT */"),
                Arguments.of(Database.MYSQL, "TRUNCATE TABLE emptied"),
                Arguments.of(Database.MYSQL, "CREATE TABLE IF NOT EXISTS made (n INT)"),
                Arguments.of(Database.MYSQL, "CALL commits()"),
                Arguments.of(Database.MYSQL, "{call commits()}"),
                Arguments.of(Database.H2, "COMMIT"),
                Arguments.of(Database.H2, "CREATE TABLE IF NOT EXISTS made (n INT)"));
    }

    @ParameterizedTest
    @MethodSource("endings")
    void after_a_statement_that_ends_the_transaction_the_next_one_checks_again(Database database, String statement)
            throws Exception {
        prepare(database);
        if (database == Database.MARIADB || database == Database.MYSQL) {
            try (Connection admin = database.connect()) {
                Database.execute(admin, "DROP PROCEDURE IF EXISTS commits", "CREATE PROCEDURE commits() COMMIT");
            }
        }
        try (Connection connection = begin(database)) {
            assertThat(read(connection)).isEqualTo(100);
            send(connection, statement);
            newHolderWorks(database);
            assertThatThrownBy(() -> set(connection, 90)).isInstanceOf(LeaseLostException.class);
            assertThatThrownBy(connection::commit).isInstanceOf(SQLException.class);
            connection.setAutoCommit(true);
        }
        assertThat(committed(database)).isEqualTo(200);
        leases = List.of(new StubLease(name, 6));
        try (Connection connection = begin(database)) {
            touch(connection, "a");
            send(connection, statement);
            set(connection, 90);
            connection.commit();
        }
        assertThat(committed(database)).isEqualTo(90);
    }

    private static void send(Connection connection, String statement) throws SQLException {
        if (statement.startsWith("{")) {
            try (CallableStatement call = connection.prepareCall(statement)) {
                call.execute();
            }
        } else {
            Database.execute(connection, statement);
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_batch_that_ends_the_transaction_is_followed_by_a_check(Database database) throws Exception {
        prepare(database);
        try (Connection connection = begin(database);
                Statement statement = connection.createStatement()) {
            assertThat(read(connection)).isEqualTo(100);
            statement.addBatch("UPDATE accounts SET n = 5 WHERE id = '" + name + "a'");
            statement.addBatch("COMMIT");
            statement.executeBatch();
            newHolderWorks(database);
            assertThatThrownBy(() -> set(connection, 90)).isInstanceOf(LeaseLostException.class);
            assertThatThrownBy(connection::commit).isInstanceOf(SQLException.class);
        }
        assertThat(committed(database)).isEqualTo(200);
    }

    private interface Way {
        Statement from(Connection connection) throws SQLException;
    }

    /** Ways to a statement that does not pass through the guarded connection. */
    private enum Around implements Way {
        UNWRAP {
            @Override
            public Statement from(Connection connection) throws SQLException {
                return connection
                        .unwrap(connection.getMetaData().getConnection().getClass())
                        .createStatement();
            }
        },
        UNWRAPPED_STATEMENT {
            @Override
            public Statement from(Connection connection) throws SQLException {
                return connection.createStatement().unwrap(Statement.class);
            }
        },
        META_DATA {
            @Override
            public Statement from(Connection connection) throws SQLException {
                return connection.getMetaData().getConnection().createStatement();
            }
        },
        RESULT_SET {
            @Override
            public Statement from(Connection connection) throws SQLException {
                Statement statement = connection
                        .createStatement()
                        .executeQuery("SELECT n FROM accounts")
                        .getStatement();
                connection.commit();
                return statement;
            }
        }
    }

    static Stream<Arguments> around() {
        return Stream.of(Database.values())
                .flatMap(database -> Stream.of(Around.values()).map(way -> Arguments.of(database, way)));
    }

    @ParameterizedTest
    @MethodSource("around")
    void what_was_sent_around_the_guarded_connection_is_checked_at_the_commit(Database database, Way way)
            throws Exception {
        prepare(database);
        try (Connection connection = begin(database)) {
            leases = List.of();
            Statement direct = way.from(connection);
            leases = List.of(old);
            direct.execute("SELECT n FROM accounts WHERE id = '" + name + "'");
            newHolderWorks(database);
            direct.execute(setting(90));
            assertThatThrownBy(connection::commit).isInstanceOf(LeaseLostException.class);
            // As frameworks do next. It would commit what is open.
            connection.setAutoCommit(true);
        }
        assertThat(committed(database)).isEqualTo(200);
        leases = List.of(new StubLease(name, 6));
        try (Connection connection = begin(database)) {
            way.from(connection).execute(setting(90));
            connection.setAutoCommit(true);
        }
        assertThat(committed(database)).isEqualTo(90);
        checkInAnotherProcess(database, 7); // nothing is left open
    }

    @Test
    void a_copy_after_a_commit_is_checked_by_the_switch_to_autocommit() throws Exception {
        prepare(Database.POSTGRESQL);
        try (Connection connection = begin(Database.POSTGRESQL)) {
            PGConnection direct = connection.unwrap(PGConnection.class);
            assertThat(read(connection)).isEqualTo(100);
            connection.commit();
            newHolderWorks(Database.POSTGRESQL);
            direct.getCopyAPI().copyIn("COPY accounts FROM STDIN", new StringReader(name + "late\t1\n"));
            assertThatThrownBy(() -> connection.setAutoCommit(true)).isInstanceOf(LeaseLostException.class);
            connection.setAutoCommit(true);
        }
        try (Connection connection = Database.POSTGRESQL.connect();
                Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery("SELECT n FROM accounts WHERE id = '" + name + "late'")) {
            assertThat(rows.next()).isFalse();
        }
    }

    /** The outer transaction still locks both rows: an inner one that raised one of them would wait for itself. */
    @ParameterizedTest
    @EnumSource
    @Timeout(40)
    void two_leases_are_covered_after_the_outer_transaction_went_back_to_a_savepoint(Database database)
            throws Exception {
        prepare(database);
        leases = List.of(old, new StubLease(name + "2", 4));
        try (Connection outer = begin(database);
                Connection inner = begin(database)) {
            touch(outer, "a");
            Savepoint savepoint = outer.setSavepoint();
            touch(outer, "b");
            outer.rollback(savepoint);
            set(inner, 90);
            inner.commit();
            outer.commit();
        }
        assertThat(committed(database)).isEqualTo(90);
    }

    /** The driver believes that the transaction is the one that was checked. */
    @ParameterizedTest
    @EnumSource
    void a_transaction_that_the_database_has_replaced_is_refused_at_the_commit(Database database) throws Exception {
        prepare(database);
        try (Connection connection = begin(database)) {
            assertThat(read(connection)).isEqualTo(100);
            connection.getMetaData().getConnection().createStatement().execute("ROLLBACK");
            newHolderWorks(database);
            set(connection, 90);
            assertThatThrownBy(connection::commit)
                    .isInstanceOf(LeaseLostException.class)
                    .hasMessageContaining("token 4 ")
                    .hasMessageContaining("token 5 ");
        }
        assertThat(committed(database)).isEqualTo(200);
        // Without another holder too: part of the work is gone.
        leases = List.of(new StubLease(name, 6));
        try (Connection connection = begin(database)) {
            touch(connection, "a");
            connection.getMetaData().getConnection().createStatement().execute("ROLLBACK");
            set(connection, 90);
            // A statement that would commit, too.
            assertThatThrownBy(() -> Database.execute(connection, "CREATE TABLE IF NOT EXISTS made (n INT)"))
                    .isInstanceOf(LeaseLostException.class);
        }
        assertThat(committed(database)).isEqualTo(200);
    }

    /** H2 commits at it. PostgreSQL refuses it within a transaction, and MariaDB applies it to the next one. */
    @ParameterizedTest
    @EnumSource
    void a_change_of_the_isolation_level_commits_nothing_unchecked(Database database) throws Exception {
        prepare(database);
        try (Connection connection = begin(database)) {
            assertThat(read(connection)).isEqualTo(100);
            connection.getMetaData().getConnection().createStatement().execute("ROLLBACK");
            newHolderWorks(database);
            set(connection, 90);
            switch (database) {
                case H2 ->
                    assertThatThrownBy(() -> repeatableRead(connection))
                            .isInstanceOf(LeaseLostException.class)
                            .hasMessageContaining("token 5 ");
                case MARIADB, MYSQL -> repeatableRead(connection);
                case POSTGRESQL ->
                    assertThatThrownBy(() -> repeatableRead(connection)).isInstanceOf(SQLException.class);
            }
            assertThatThrownBy(connection::commit).isInstanceOf(LeaseLostException.class);
        }
        assertThat(committed(database)).isEqualTo(200);
    }

    /** Without an error the next statement belongs to another transaction. */
    @Test
    void after_a_change_of_the_isolation_level_the_next_statement_checks_again() throws Exception {
        prepare(Database.H2);
        try (Connection connection = begin(Database.H2)) {
            touch(connection, "a");
            repeatableRead(connection);
            newHolderWorks(Database.H2);
            assertThatThrownBy(() -> set(connection, 90)).isInstanceOf(LeaseLostException.class);
        }
        assertThat(committed(Database.H2)).isEqualTo(200);
    }

    /** PostgreSQL refuses the call in a transaction, so a check would be in the way. */
    @ParameterizedTest
    @EnumSource
    void the_isolation_level_may_be_set_before_the_first_statement(Database database) throws Exception {
        prepare(database);
        try (Connection connection = begin(database)) {
            assertThat(connection.getMetaData()).isNotNull();
            repeatableRead(connection);
            set(connection, 90);
            connection.commit();
            repeatableRead(connection);
        }
        assertThat(committed(database)).isEqualTo(90);
    }

    private static void repeatableRead(Connection connection) throws SQLException {
        connection.setTransactionIsolation(Connection.TRANSACTION_REPEATABLE_READ);
    }

    /** What was refused is open then, and the next commit would commit it. */
    @Test
    void what_was_refused_stays_refused_until_a_rollback_succeeds() throws Exception {
        prepare(Database.H2);
        boolean[] fails = {false};
        DataSource source = proxy(
                DataSource.class,
                Database.H2.source(),
                (method, result) -> result instanceof Connection connection ? failing(connection, fails) : result);
        guarded = GUARD.guarded(source, () -> leases);
        try (Connection connection = begin(Database.H2)) {
            assertThat(read(connection)).isEqualTo(100);
            connection.getMetaData().getConnection().createStatement().execute("ROLLBACK");
            newHolderWorks(Database.H2);
            set(connection, 90);
            fails[0] = true;
            assertThatThrownBy(connection::commit)
                    .isInstanceOf(LeaseLostException.class)
                    .satisfies(
                            e -> assertThat(e.getSuppressed()).singleElement().hasToString(failed.toString()));
            leases = List.of(); // as after the locked method
            assertThatThrownBy(connection::commit).hasMessageContaining("must be rolled back");
            assertThatThrownBy(connection::rollback).isSameAs(failed);
            assertThatThrownBy(connection::commit).hasMessageContaining("must be rolled back");
            assertThatThrownBy(() -> connection.setAutoCommit(true)).hasMessageContaining("must be rolled back");
            assertThatThrownBy(() -> set(connection, 90)).hasMessageContaining("must be rolled back");
            fails[0] = false;
            connection.rollback();
            touch(connection, "a");
            connection.commit();
        }
        assertThat(committed(Database.H2)).isEqualTo(200);
    }

    private final SQLException failed = new SQLException("the rollback failed");

    /** A connection whose rollback fails, and does nothing, while the first of these is true. */
    private Connection failing(Connection target, boolean[] fails) {
        return (Connection) Proxy.newProxyInstance(
                GuardedCommitTest.class.getClassLoader(),
                new Class<?>[] {Connection.class},
                (self, method, arguments) -> {
                    if (fails[0] && method.getName().equals("rollback")) {
                        throw failed;
                    }
                    try {
                        return method.invoke(target, arguments);
                    } catch (InvocationTargetException e) {
                        throw e.getTargetException();
                    }
                });
    }

    /** The row has the triple of the second lease then. */
    @ParameterizedTest
    @EnumSource
    void a_name_may_have_two_leases_one_after_the_other_in_one_transaction(Database database) throws Exception {
        prepare(database);
        try (Connection connection = begin(database)) {
            touch(connection, "a");
            leases = List.of(new StubLease(name, 5), new StubLease(name + "other", 1));
            set(connection, 90);
            leases = List.of();
            connection.commit();
        }
        assertThat(committed(database)).isEqualTo(90);
    }

    /** Each statement is one round trip, but the check at the begin is two on MariaDB. */
    @ParameterizedTest
    @EnumSource
    void a_commit_costs_one_statement_for_each_lease_and_none_without_leases(Database database) throws Exception {
        prepare(database);
        List<String> sent = new ArrayList<>();
        DataSource source = proxy(DataSource.class, database.source(), (method, result) -> {
            return result instanceof Connection connection
                    ? proxy(Connection.class, connection, (inner, value) -> {
                        // MySQL's driver asks the database whether a connection is read-only.
                        if (value instanceof PreparedStatement || inner.equals("isReadOnly")) {
                            sent.add(inner);
                        }
                        return value;
                    })
                    : result;
        });
        leases = List.of();
        try (Connection connection = begin(GUARD.guarded(source, () -> leases))) {
            touch(connection, "a");
            connection.commit();
            assertThat(sent).isEmpty();
            leases = List.of(old, new StubLease(name + "other", 1));
            connection.commit(); // nothing was sent
            touch(connection, "a");
            sent.clear();
            touch(connection, "b");
            assertThat(sent).isEmpty();
            connection.commit();
            // One for each lease. What frameworks do next costs nothing.
            assertThat(sent).hasSize(2);
            connection.setAutoCommit(true);
            assertThat(sent).hasSize(2);
        }
    }
}
