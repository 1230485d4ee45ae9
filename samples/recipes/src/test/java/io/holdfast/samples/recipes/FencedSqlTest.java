package io.holdfast.samples.recipes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.Lease;
import io.holdfast.LeaseLostException;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import org.junit.jupiter.api.Test;

class FencedSqlTest {

    @Test
    void a_row_refuses_an_old_holder() throws Exception {
        try (TwoHolders holders = new TwoHolders("order:1");
                Connection database = DriverManager.getConnection("jdbc:h2:mem:")) {
            execute(database, FencedSql.TABLE);
            execute(database, "INSERT INTO orders (id, status) VALUES (1, 'new')");

            FencedSql.setStatus(database, holders.old, 1, "paid");
            Lease next = holders.next();
            FencedSql.setStatus(database, next, 1, "packed");
            FencedSql.setStatus(database, next, 1, "sent");
            assertThatThrownBy(() -> FencedSql.setStatus(database, holders.old, 1, "cancelled"))
                    .isInstanceOf(LeaseLostException.class)
                    .hasMessageContaining("refused");

            assertThat(status(database)).isEqualTo("sent");
        }
    }

    private static void execute(Connection database, String sql) throws SQLException {
        try (Statement statement = database.createStatement()) {
            statement.execute(sql);
        }
    }

    private static String status(Connection database) throws SQLException {
        try (Statement statement = database.createStatement();
                ResultSet row = statement.executeQuery("SELECT status FROM orders WHERE id = 1")) {
            row.next();
            return row.getString(1);
        }
    }
}
