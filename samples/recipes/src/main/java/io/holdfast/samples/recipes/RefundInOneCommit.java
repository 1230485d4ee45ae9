package io.holdfast.samples.recipes;

import io.holdfast.Lease;
import io.holdfast.LockClient;
import io.holdfast.sql.SqlGuard;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import javax.sql.DataSource;

/** Refunds an order once: the lock, its guard and the refund are in one PostgreSQL database. */
final class RefundInOneCommit {

    static final String TABLE = "CREATE TABLE refund (order_id BIGINT NOT NULL, amount BIGINT NOT NULL)";

    private final LockClient locks;
    private final DataSource database;

    RefundInOneCommit(LockClient locks, DataSource database) {
        this.locks = locks;
        this.database = database;
    }

    /** Returns whether it was this call that refunded the order. */
    boolean refund(long orderId, long amount) throws SQLException, InterruptedException {
        try (Lease lease = locks.acquire("order:refund:" + orderId);
                Connection connection = database.getConnection()) {
            connection.setAutoCommit(false);
            SqlGuard guard = SqlGuard.check(connection, lease);
            boolean first = !isRefunded(connection, orderId);
            if (first) {
                insert(connection, orderId, amount);
            }
            guard.commitAndRelease(connection);
            return first;
        }
    }

    private static boolean isRefunded(Connection connection, long orderId) throws SQLException {
        try (PreparedStatement query = connection.prepareStatement("SELECT 1 FROM refund WHERE order_id = ?")) {
            query.setLong(1, orderId);
            try (ResultSet found = query.executeQuery()) {
                return found.next();
            }
        }
    }

    private static void insert(Connection connection, long orderId, long amount) throws SQLException {
        try (PreparedStatement insert = connection.prepareStatement("INSERT INTO refund VALUES (?, ?)")) {
            insert.setLong(1, orderId);
            insert.setLong(2, amount);
            insert.executeUpdate();
        }
    }
}
