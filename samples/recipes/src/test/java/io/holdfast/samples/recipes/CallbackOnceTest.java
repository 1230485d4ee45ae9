package io.holdfast.samples.recipes;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.LockClient;
import io.holdfast.OnceConflictException;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import javax.sql.DataSource;
import org.h2.jdbcx.JdbcDataSource;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A callback arrives three times within 10 ms: twice at one node, once at another. */
class CallbackOnceTest {

    private final JdbcDataSource database = new JdbcDataSource();

    private interface Node {
        String paid(LockClient locks, DataSource database) throws Exception;
    }

    @BeforeEach
    void createTables() throws SQLException {
        database.setURL("jdbc:h2:mem:" + UUID.randomUUID() + ";DB_CLOSE_DELAY=-1");
        try (Connection connection = database.getConnection();
                Statement statement = connection.createStatement()) {
            CallbackOnce.KEYS.createTable(connection);
            statement.execute(CallbackOnce.TABLE);
        }
    }

    @Test
    void a_payment_is_booked_once_and_all_callbacks_get_one_receipt() throws Exception {
        List<String> receipts = thrice((locks, source) -> new CallbackOnce(locks, source).paid("17", 100));
        assertThat(receipts).hasSize(3);
        assertThat(receipts.get(0)).startsWith("receipt ");
        assertThat(receipts).containsOnly(receipts.get(0));
        assertThat(bookings()).isEqualTo(1);
    }

    @Test
    void with_the_lock_alone_it_is_booked_three_times() throws Exception {
        thrice((locks, source) -> locks.callChecked("payment:17", lease -> {
            try (Connection connection = source.getConnection()) {
                return CallbackOnce.book(connection, "17", 100);
            }
        }));
        assertThat(bookings()).isEqualTo(3);
    }

    @Test
    void a_callback_with_another_amount_books_nothing() throws Exception {
        try (Fleet fleet = Fleet.of(1)) {
            CallbackOnce callbacks = new CallbackOnce(fleet.node(0), database);
            callbacks.paid("17", 100);
            assertThatThrownBy(() -> callbacks.paid("17", 200)).isInstanceOf(OnceConflictException.class);
            assertThat(bookings()).isEqualTo(1);
        }
    }

    private List<String> thrice(Node node) throws Exception {
        ExecutorService threads = Executors.newFixedThreadPool(3);
        try (Fleet fleet = Fleet.of(2)) {
            List<Future<String>> calls = new ArrayList<>();
            for (int i = 0; i < 3; i++) {
                LockClient locks = fleet.node(i % 2);
                calls.add(threads.submit(() -> node.paid(locks, database)));
            }
            List<String> receipts = new ArrayList<>();
            for (Future<String> call : calls) {
                receipts.add(call.get(60, SECONDS));
            }
            return receipts;
        } finally {
            threads.shutdownNow();
        }
    }

    private int bookings() throws SQLException {
        try (Connection connection = database.getConnection();
                Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery("SELECT COUNT(*) FROM booking")) {
            row.next();
            return row.getInt(1);
        }
    }
}
