package io.holdfast.samples.recipes;

import io.holdfast.Lease;
import io.holdfast.LeaseLostException;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;

/** Writes to a row that refuses the tokens of old holders. */
final class FencedSql {

    static final String TABLE = """
            CREATE TABLE orders (
              id BIGINT PRIMARY KEY, status VARCHAR(20) NOT NULL,
              fence BIGINT DEFAULT 0 NOT NULL)""";

    private FencedSql() {}

    /**
     * Changes the status of an order.
     *
     * @throws LeaseLostException if a later lease has written to the order, or there is no such order
     */
    static void setStatus(Connection connection, Lease lease, long orderId, String status) throws SQLException {
        try (PreparedStatement update =
                connection.prepareStatement("UPDATE orders SET status = ?, fence = ? WHERE id = ? AND fence <= ?")) {
            update.setString(1, status);
            update.setLong(2, lease.fencingToken());
            update.setLong(3, orderId);
            update.setLong(4, lease.fencingToken());
            if (update.executeUpdate() == 0) {
                throw new LeaseLostException("Order " + orderId + " refused " + lease);
            }
        }
    }
}
