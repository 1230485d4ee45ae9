package io.holdfast.samples.recipes;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.Lease;
import io.holdfast.LockClient;
import io.holdfast.jdbc.JdbcGuard;
import io.holdfast.jdbc.JdbcOnce;
import io.holdfast.jdbc.OncePurge;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.UUID;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Runs the code of docs/guard.md, and that of docs/idempotent.md without Spring, on H2. */
class DatabasePagesTest {

    private final LockClient locks = LockClient.connect("memory:" + UUID.randomUUID());
    private final DataSource database = Database.with("CREATE TABLE refund (id BIGINT)");
    private final Refunds refunds = new Refunds();
    private final Payments payments = new Payments();
    private final long id = 42;
    private final long amount = 100;

    @BeforeEach
    void createTables() throws SQLException {
        try (Connection connection = database.getConnection()) {
            JdbcGuard.defaults().createTable(connection);
            JdbcOnce.defaults().createTable(connection);
        }
    }

    @AfterEach
    void close() {
        locks.close();
    }

    @Test
    void a_guarded_transaction() throws Exception {
        JdbcGuard guard = JdbcGuard.defaults();

        try (Lease lease = locks.acquire("order:" + id);
                Connection connection = database.getConnection()) {
            connection.setAutoCommit(false);
            guard.check(connection, lease);
            refunds.execute(connection, id);
            connection.commit();
        }
        assertThat(count("refund")).isEqualTo(1);
        assertThat(count("holdfast_guard")).isEqualTo(1);
    }

    @Test
    void work_that_is_done_once() throws Exception {
        for (int request = 0; request < 2; request++) {
            try (Connection connection = database.getConnection()) {
                connection.setAutoCommit(false);
                String refund = JdbcOnce.defaults()
                        .run(connection, "refund:" + id, "amount=" + amount, c -> refunds.execute(c, id, amount));
                connection.commit();
                assertThat(refund).isEqualTo("100 for order 42");
            }
        }
        assertThat(count("refund")).isEqualTo(1);
    }

    @Test
    void keys_are_kept_and_purged() throws Exception {
        try (Connection connection = database.getConnection()) {
            connection.setAutoCommit(false);
            String receipt = JdbcOnce.defaults()
                    .keepFor(Duration.ofDays(30))
                    .run(connection, "payment:" + id, "amount=" + amount, c -> settle(c, id, amount));
            connection.commit();
            assertThat(receipt).isEqualTo("100 for order 42");
        }
        OncePurge purge = OncePurge.start(Duration.ofHours(1), locks, () -> {
            try (Connection connection = database.getConnection()) {
                connection.setAutoCommit(true);
                return JdbcOnce.defaults().purge(connection);
            }
        });
        purge.close();
        try (Connection connection = database.getConnection()) {
            assertThat(JdbcOnce.defaults().purge(connection)).isZero();
        }
    }

    @Test
    void work_that_is_done_once_without_a_database() throws Exception {
        for (int request = 0; request < 2; request++) {
            String receipt = locks.once()
                    .keepFor(Duration.ofDays(7))
                    .run("payment:" + id, "amount=" + amount, lease -> payments.settle(id, amount));
            assertThat(receipt).isEqualTo("receipt 1");
        }
    }

    private String settle(Connection connection, long payment, long sum) throws SQLException {
        return refunds.execute(connection, payment, sum);
    }

    private int count(String table) throws SQLException {
        try (Connection connection = database.getConnection();
                Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery("SELECT count(*) FROM " + table)) {
            row.next();
            return row.getInt(1);
        }
    }

    private static final class Refunds {

        void execute(Connection connection, long order) throws SQLException {
            try (Statement statement = connection.createStatement()) {
                statement.executeUpdate("INSERT INTO refund VALUES (" + order + ")");
            }
        }

        String execute(Connection connection, long order, long sum) throws SQLException {
            execute(connection, order);
            return sum + " for order " + order;
        }
    }

    private static final class Payments {

        private int settled;

        String settle(long payment, long sum) {
            assertThat(payment).isLessThan(sum);
            return "receipt " + ++settled;
        }
    }
}
