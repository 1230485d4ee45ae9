package io.holdfast.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.spi.Finding;
import io.holdfast.spi.Finding.Severity;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What is said of the table of keys, and how it becomes smaller. */
class OnceTableTest {

    private static final int MANY = 2_100;

    private static final JdbcOnce ONCE = JdbcOnce.defaults().table("once_table");

    private static void recreate(Connection connection) throws SQLException {
        Database.execute(connection, "DROP TABLE IF EXISTS once_table");
        ONCE.createTable(connection);
    }

    private static Finding diagnose(Connection connection) throws SQLException {
        return ONCE.diagnose(connection).get(0);
    }

    /** Adds keys that were to be kept until two days ago. */
    private static void addOld(Database database, Connection connection, int keys) throws SQLException {
        String now = Dialect.of(connection).now();
        String past = now + " - INTERVAL " + (database == Database.MARIADB ? "49 HOUR" : "'49' HOUR");
        try (PreparedStatement insert = connection.prepareStatement("INSERT INTO once_table (once_key, fingerprint,"
                + " attempt, done, created_at, keep_until, name) VALUES (?, '', '', 1, " + past + ", " + past
                + ", '')")) {
            for (int i = 0; i < keys; i++) {
                insert.setString(1, "old" + i);
                insert.addBatch();
            }
            insert.executeBatch();
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_table_that_nobody_purges_is_a_warning(Database database) throws SQLException {
        try (Connection connection = database.connect()) {
            recreate(connection);
            assertThat(diagnose(connection))
                    .isEqualTo(Finding.ok("once", "once_table has 0 keys, 0 past the time to keep"));
            connection.setAutoCommit(false);
            ONCE.<SQLException>run(connection, "kept", "", inside -> null);
            connection.commit();
            assertThat(diagnose(connection))
                    .isEqualTo(Finding.ok("once", "once_table has 1 key, 0 past the time to keep"));
            addOld(database, connection, 3);
            connection.commit();
            Finding finding = diagnose(connection);
            assertThat(finding.severity()).isEqualTo(Severity.WARNING);
            assertThat(finding.text())
                    .startsWith("once_table has 4 keys, 3 past the time to keep, one of them for 2 d 1 h");
            assertThat(ONCE.purge(connection)).isEqualTo(3);
            connection.commit();
            assertThat(diagnose(connection).severity()).isEqualTo(Severity.OK);
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_table_of_an_older_version_is_named_with_its_missing_columns(Database database) throws SQLException {
        try (Connection connection = database.connect()) {
            recreate(connection);
            Database.execute(connection, "ALTER TABLE once_table DROP COLUMN keep_until");
            assertThatThrownBy(() -> ONCE.requireTable(connection))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageStartingWith("The table once_table has no column keep_until (expected: the columns of"
                            + " this statement: CREATE TABLE IF NOT EXISTS once_table (");
            assertThat(diagnose(connection).severity()).isEqualTo(Severity.ERROR);
            Database.execute(connection, "DROP TABLE once_table");
            assertThat(diagnose(connection).text()).startsWith("There is no table once_table (expected: ");
            connection.setAutoCommit(false);
            assertThatThrownBy(() -> ONCE.run(connection, "a key", "a fingerprint", same -> "done"))
                    .isInstanceOf(SQLException.class)
                    .hasMessageStartingWith("There is no table once_table (expected: made by this statement: CREATE ");
            connection.rollback();
        }
    }

    /** A statement that deletes a million rows holds up all others, and replicas. */
    @ParameterizedTest
    @EnumSource(names = {"POSTGRESQL", "MARIADB"})
    void no_statement_of_a_purge_deletes_very_many(Database database) throws SQLException {
        AtomicInteger largest = new AtomicInteger();
        try (Connection connection = database.connect()) {
            recreate(connection);
            connection.setAutoCommit(false);
            addOld(database, connection, MANY);
            connection.commit();
            connection.setAutoCommit(true);
            assertThat(ONCE.purge(counting(Connection.class, connection, largest)))
                    .isEqualTo(MANY);
            assertThat(largest.get()).isBetween(1, Dialect.PURGED_AT_ONCE);
        }
    }

    private static <T> T counting(Class<T> type, T to, AtomicInteger largest) {
        return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, (proxy, method, args) -> {
            Object result = method.invoke(to, args);
            if (method.getName().equals("executeUpdate")) {
                largest.accumulateAndGet((Integer) result, Math::max);
            }
            return result instanceof PreparedStatement statement
                    ? counting(PreparedStatement.class, statement, largest)
                    : result;
        }));
    }
}
