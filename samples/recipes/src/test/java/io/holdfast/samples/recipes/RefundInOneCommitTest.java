package io.holdfast.samples.recipes;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.Lease;
import io.holdfast.LockClient;
import io.holdfast.sql.SqlGuard;
import io.holdfast.testkit.servers.PostgresServer;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import javax.sql.DataSource;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.postgresql.ds.PGSimpleDataSource;

/** Starts PostgreSQL. */
@Tag("deep")
class RefundInOneCommitTest {

    private static final int ORDERS = 5;

    @Test
    void each_order_is_refunded_once() throws Exception {
        PGSimpleDataSource database = new PGSimpleDataSource();
        String url = PostgresServer.start().url();
        database.setUrl(url);
        execute(database, RefundInOneCommit.TABLE);
        String store = url + "&createTable=true";
        ExecutorService threads = Executors.newFixedThreadPool(6);
        try (LockClient one = LockClient.connect(store);
                LockClient two = LockClient.connect(store)) {
            List<Future<Boolean>> calls = new ArrayList<>();
            for (int i = 0; i < 6 * ORDERS; i++) {
                RefundInOneCommit refunds = new RefundInOneCommit(i % 2 == 0 ? one : two, database);
                long order = i % ORDERS;
                calls.add(threads.submit(() -> refunds.refund(order, 100)));
            }
            int refunded = 0;
            for (Future<Boolean> call : calls) {
                refunded += call.get(1, TimeUnit.MINUTES) ? 1 : 0;
            }
            assertThat(refunded).isEqualTo(ORDERS);
            assertThat(count(database)).isEqualTo(ORDERS);
        } finally {
            threads.shutdownNow();
        }
    }

    /** The code of docs/stores/sql.md. */
    @Test
    void the_lock_is_free_with_the_commit() throws Exception {
        PGSimpleDataSource database = new PGSimpleDataSource();
        String url = PostgresServer.start().url();
        database.setUrl(url);
        long id = 4711;
        Refunds refunds = new Refunds();
        try (LockClient locks = LockClient.connect(url + "&createTable=true")) {
            try (Lease lease = locks.acquire("order:" + id);
                    Connection connection = database.getConnection()) {
                connection.setAutoCommit(false);
                SqlGuard guard = SqlGuard.check(connection, lease);
                refunds.execute(connection, id);
                guard.commitAndRelease(connection);
            }
            assertThat(locks.inspect("order:" + id).isLocked()).isFalse();
        }
        assertThat(refunds.order).isEqualTo(id);
    }

    private static final class Refunds {

        private long order;

        void execute(Connection connection, long id) throws SQLException {
            assertThat(connection.getAutoCommit()).isFalse();
            order = id;
        }
    }

    private static void execute(DataSource database, String sql) throws SQLException {
        try (Connection connection = database.getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }

    private static int count(DataSource database) throws SQLException {
        try (Connection connection = database.getConnection();
                Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery("SELECT count(*) FROM refund")) {
            row.next();
            return row.getInt(1);
        }
    }
}
