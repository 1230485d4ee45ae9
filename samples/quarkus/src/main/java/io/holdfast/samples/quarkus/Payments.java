package io.holdfast.samples.quarkus;

import io.holdfast.cdi.Idempotent;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.transaction.Transactional;
import java.io.IOException;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import javax.sql.DataSource;

/** A callback that arrives twice books one payment. */
@ApplicationScoped
public class Payments {

    /** What a caller receives, and each that repeats the call. */
    public record Receipt(String id, int amount, long process) {}

    private final DataSource database;

    Payments(DataSource database) {
        this.database = database;
    }

    /** Books a payment. */
    @Transactional
    @Idempotent(name = "payment", key = "{id}", keepFor = "30d")
    public Receipt settle(String id, int amount) throws SQLException, IOException {
        try (Connection connection = database.getConnection();
                PreparedStatement insert = connection.prepareStatement("INSERT INTO payments VALUES (?, ?)")) {
            insert.setString(1, id);
            insert.setInt(2, amount);
            insert.executeUpdate();
        }
        if (amount < 0) {
            // At a checked exception, @Transactional commits. Holdfast does not let it.
            throw new IOException("The bank refuses the amount");
        }
        return new Receipt(id, amount, ProcessHandle.current().pid());
    }
}
