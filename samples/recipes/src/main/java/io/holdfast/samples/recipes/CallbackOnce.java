package io.holdfast.samples.recipes;

import static java.util.Objects.requireNonNull;

import io.holdfast.LockClient;
import io.holdfast.jdbc.JdbcOnce;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.util.UUID;
import javax.sql.DataSource;

/** Books a payment once, however often its callback arrives, and gives each callback the same answer. */
final class CallbackOnce {

    static final String TABLE = "CREATE TABLE booking (payment VARCHAR(64) NOT NULL, amount BIGINT NOT NULL)";

    static final JdbcOnce KEYS = JdbcOnce.defaults().keepFor(Duration.ofDays(30));

    private final LockClient locks;
    private final DataSource database;

    CallbackOnce(LockClient locks, DataSource database) {
        this.locks = locks;
        this.database = database;
    }

    /** Returns the receipt of the callback that was first. */
    String paid(String payment, long amount) throws SQLException, InterruptedException {
        return locks.callChecked("payment:" + payment, lease -> {
            try (Connection connection = database.getConnection()) {
                connection.setAutoCommit(false);
                String receipt =
                        KEYS.run(connection, "payment:" + payment, "amount=" + amount, c -> book(c, payment, amount));
                connection.commit();
                return requireNonNull(receipt);
            }
        });
    }

    static String book(Connection connection, String payment, long amount) throws SQLException {
        try (PreparedStatement insert = connection.prepareStatement("INSERT INTO booking VALUES (?, ?)")) {
            insert.setString(1, payment);
            insert.setLong(2, amount);
            insert.executeUpdate();
        }
        return "receipt " + UUID.randomUUID();
    }
}
