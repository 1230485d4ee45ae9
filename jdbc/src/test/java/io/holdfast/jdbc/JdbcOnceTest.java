package io.holdfast.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.OnceConflictException;
import java.io.IOException;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Work that is done once, on each real database. */
class JdbcOnceTest {

    private static final JdbcOnce ONCE = JdbcOnce.defaults();

    private final String key = "refund:" + UUID.randomUUID();
    private final AtomicInteger runs = new AtomicInteger();

    private Connection open(Database database) throws SQLException {
        Connection connection = database.connect();
        ONCE.createTable(connection);
        Database.execute(connection, "CREATE TABLE IF NOT EXISTS effects (id VARCHAR(100) NOT NULL)");
        connection.setAutoCommit(false);
        return connection;
    }

    /** Does the work, and says which time it is. */
    private String refund(Connection connection) throws SQLException {
        Database.execute(connection, "INSERT INTO effects VALUES ('" + key + "')");
        return "refund " + runs.incrementAndGet() + " \ud83d\udcb6";
    }

    private int effects(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery("SELECT COUNT(*) FROM effects WHERE id = '" + key + "'")) {
            assertThat(rows.next()).isTrue();
            return rows.getInt(1);
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_second_caller_gets_the_stored_result(Database database) throws SQLException {
        try (Connection first = open(database);
                Connection second = open(database)) {
            assertThat(ONCE.run(first, key, "10 EUR", this::refund)).isEqualTo("refund 1 \ud83d\udcb6");
            first.commit();
            assertThat(ONCE.run(second, key, "10 EUR", this::refund)).isEqualTo("refund 1 \ud83d\udcb6");
            second.commit();
            assertThat(ONCE.<SQLException>run(first, key + "null", "", c -> null))
                    .isNull();
            first.commit();
            assertThat(ONCE.run(second, key + "null", "", this::refund)).isNull();
            assertThat(effects(second)).isEqualTo(1);
            String large = "x".repeat(200_000);
            assertThat(ONCE.<SQLException>run(first, key + "large", "", c -> large))
                    .isEqualTo(large);
            first.commit();
            assertThat(ONCE.run(first, key + "large", "", this::refund)).isEqualTo(large);
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_second_caller_waits_for_the_first(Database database) throws Exception {
        try (Connection first = open(database);
                Connection second = open(database)) {
            ONCE.run(first, key, "10 EUR", this::refund);
            CompletableFuture<String> result = later(second);
            assertThatThrownBy(() -> result.get(300, TimeUnit.MILLISECONDS)).isInstanceOf(TimeoutException.class);
            first.commit();
            assertThat(result.get(10, TimeUnit.SECONDS)).isEqualTo("refund 1 \ud83d\udcb6");
            second.commit();
            assertThat(effects(first)).isEqualTo(1);
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_second_caller_does_the_work_if_the_first_rolls_back(Database database) throws Exception {
        try (Connection first = open(database);
                Connection second = open(database)) {
            ONCE.run(first, key, "10 EUR", this::refund);
            CompletableFuture<String> result = later(second);
            assertThatThrownBy(() -> result.get(300, TimeUnit.MILLISECONDS)).isInstanceOf(TimeoutException.class);
            first.rollback();
            assertThat(result.get(10, TimeUnit.SECONDS)).isEqualTo("refund 2 \ud83d\udcb6");
            second.commit();
            assertThat(effects(first)).isEqualTo(1);
        }
    }

    private CompletableFuture<String> later(Connection connection) {
        return CompletableFuture.supplyAsync(() -> {
            try {
                return ONCE.run(connection, key, "10 EUR", this::refund);
            } catch (SQLException e) {
                throw new IllegalStateException(e);
            }
        });
    }

    /** The connection ends between the effect and its commit, as it does when the process dies. */
    @ParameterizedTest
    @EnumSource
    void a_crash_before_the_commit_leaves_nothing(Database database) throws Exception {
        try (Connection reader = open(database)) {
            Connection crashed = open(database);
            ONCE.run(crashed, key, "10 EUR", this::refund);
            if (database == Database.H2) {
                crashed.rollback(); // an embedded database has no connection to cut
            }
            crashed.abort(Runnable::run);
            assertThat(ONCE.run(reader, key, "10 EUR", this::refund)).isEqualTo("refund 2 \ud83d\udcb6");
            reader.commit();
            assertThat(effects(reader)).isEqualTo(1);
        }
    }

    @ParameterizedTest
    @EnumSource
    void another_fingerprint_is_refused(Database database) throws SQLException {
        try (Connection connection = open(database)) {
            ONCE.run(connection, key, "10 EUR", this::refund);
            connection.commit();
            assertThatThrownBy(() -> ONCE.run(connection, key, "11 EUR", this::refund))
                    .isInstanceOf(OnceConflictException.class)
                    .hasMessageContaining(key)
                    .hasMessageContaining("another fingerprint");
            assertThat(runs).hasValue(1);
        }
    }

    /** Even if the caller catches the failure and commits. */
    @ParameterizedTest
    @EnumSource
    void a_failed_effect_leaves_neither_key_nor_effect(Database database) throws SQLException {
        try (Connection connection = open(database)) {
            Database.execute(connection, "INSERT INTO effects VALUES ('before" + key + "')");
            assertThatThrownBy(() -> ONCE.run(connection, key, "10 EUR", c -> {
                        refund(c);
                        throw new IOException("no such card");
                    }))
                    .isInstanceOf(IOException.class)
                    .hasMessage("no such card")
                    .hasNoSuppressedExceptions();
            assertThatThrownBy(() -> ONCE.run(connection, key, "10 EUR", c -> {
                        Database.execute(c, "INSERT INTO no_such_table VALUES (1)");
                        return "";
                    }))
                    .isInstanceOf(SQLException.class);
            connection.commit();
            assertThat(effects(connection)).isZero();
            assertThat(ONCE.run(connection, key, "10 EUR", this::refund)).isEqualTo("refund 2 \ud83d\udcb6");
            connection.commit();
            assertThat(effects(connection)).isEqualTo(1);
        }
    }

    @ParameterizedTest
    @EnumSource
    void an_effect_that_asks_for_its_own_key_is_refused(Database database) throws SQLException {
        try (Connection connection = open(database)) {
            assertThatThrownBy(() -> ONCE.run(connection, key, "10 EUR", c -> ONCE.run(c, key, "10 EUR", this::refund)))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("its own key");
        }
    }

    /** DDL commits on MariaDB, MySQL and H2, so the key is committed without the rest of the work. */
    @ParameterizedTest
    @EnumSource(names = "POSTGRESQL", mode = EnumSource.Mode.EXCLUDE)
    void an_effect_that_commits_and_fails_leaves_a_key_that_says_so(Database database) throws SQLException {
        try (Connection connection = open(database)) {
            assertThatThrownBy(() -> ONCE.run(connection, key, "10 EUR", c -> {
                        refund(c);
                        Database.execute(c, "CREATE TABLE IF NOT EXISTS made_by_effect (n INT)");
                        throw new IOException("no such card");
                    }))
                    .isInstanceOf(IOException.class);
            connection.rollback();
            for (int i = 0; i < 2; i++) {
                assertThatThrownBy(() -> ONCE.run(connection, key, "10 EUR", this::refund))
                        .isInstanceOf(IllegalStateException.class)
                        .hasMessageContainingAll(key, "a statement that commits, such as DDL", "find out")
                        .hasMessageContaining("DELETE FROM holdfast_once WHERE once_key = '" + Keys.of(key) + "'");
                connection.rollback();
            }
            Database.execute(connection, "DELETE FROM holdfast_once WHERE once_key = '" + Keys.of(key) + "'");
            assertThat(ONCE.run(connection, key, "10 EUR", this::refund)).startsWith("refund 2");
            connection.commit();
        }
    }

    @Test
    void an_effect_that_commits_and_succeeds_is_named() throws SQLException {
        try (Connection connection = open(Database.MARIADB)) {
            assertThatThrownBy(() -> ONCE.<SQLException>run(connection, key, "10 EUR", c -> {
                        Database.execute(c, "CREATE TABLE IF NOT EXISTS made_by_effect (n INT)");
                        return "made";
                    }))
                    .isInstanceOf(SQLException.class)
                    .hasMessageContainingAll(key, "has ended its transaction");
        }
    }

    /** UTF-8 would write a question mark for each half, and so make one key of several. */
    @ParameterizedTest
    @EnumSource
    void texts_that_no_database_stores_as_they_are_are_refused(Database database) throws SQLException {
        try (Connection connection = open(database)) {
            for (String text : new String[] {"half \ud83d", "half \ude00 of", "a\0b"}) {
                assertThatThrownBy(() -> ONCE.run(connection, key + text, "10 EUR", this::refund))
                        .isInstanceOf(IllegalArgumentException.class)
                        .hasMessageContaining("key: ");
                assertThatThrownBy(() -> ONCE.run(connection, key, text, this::refund))
                        .isInstanceOf(IllegalArgumentException.class)
                        .hasMessageContaining("fingerprint: ");
                assertThatThrownBy(() -> ONCE.<SQLException>run(connection, key, "10 EUR", c -> {
                            refund(c);
                            return text;
                        }))
                        .isInstanceOf(IllegalArgumentException.class)
                        .hasMessageContaining("result for the key \"" + key + "\": ");
            }
            connection.commit();
            assertThat(effects(connection)).isZero();
        }
    }

    @ParameterizedTest
    @EnumSource
    void eight_callers_at_once_do_the_work_once(Database database) throws Exception {
        // Skips the test where the database is not started; the threads below cannot.
        open(database).close();
        CompletableFuture<?>[] callers = new CompletableFuture<?>[8];
        for (int i = 0; i < callers.length; i++) {
            callers[i] = CompletableFuture.runAsync(() -> {
                try (Connection connection = open(database)) {
                    ONCE.run(connection, key, "10 EUR", this::refund);
                    connection.commit();
                } catch (SQLException e) {
                    throw new IllegalStateException(e);
                }
            });
        }
        CompletableFuture.allOf(callers).get(60, TimeUnit.SECONDS);
        assertThat(runs).hasValue(1);
        try (Connection reader = open(database)) {
            assertThat(effects(reader)).isEqualTo(1);
        }
    }

    @ParameterizedTest
    @EnumSource
    void purge_and_mistakes(Database database) throws SQLException {
        try (Connection connection = open(database)) {
            JdbcOnce own = ONCE.table("once_purged");
            own.createTable(connection);
            own.run(connection, key, "10 EUR", this::refund);
            connection.commit();
            assertThat(own.purge(connection)).isZero();
            own.keepFor(Duration.ofHours(30)).run(connection, key + "kept", "", this::refund);
            connection.commit();
            Database.execute(
                    connection,
                    "UPDATE once_purged SET keep_until = keep_until - " + database.interval(8, "DAY")
                            + " WHERE name NOT LIKE '%kept'");
            assertThat(own.purge(connection)).isEqualTo(1);
            connection.commit();
            for (Duration wrong : new Duration[] {Duration.ofMillis(999), Duration.ofDays(36_501)}) {
                assertThatThrownBy(() -> own.keepFor(wrong))
                        .isInstanceOf(IllegalArgumentException.class)
                        .hasMessageContaining("keepFor: " + wrong);
            }
            connection.setAutoCommit(true);
            assertThatThrownBy(() -> own.run(connection, key, "10 EUR", this::refund))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("setAutoCommit(false)");
        }
    }
}
