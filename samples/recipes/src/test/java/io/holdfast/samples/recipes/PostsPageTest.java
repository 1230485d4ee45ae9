package io.holdfast.samples.recipes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.holdfast.Lease;
import io.holdfast.LeaseLostException;
import io.holdfast.LockClient;
import io.holdfast.LockOptions;
import io.holdfast.MultiLease;
import io.holdfast.memory.MemoryLockStore;
import io.holdfast.memory.VirtualTime;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Runs the code of docs/posts.md without a server. */
@SuppressWarnings("try") // leases that only have to be held
class PostsPageTest {

    private static final String SELL = "UPDATE stock SET n = n - 1 WHERE item = ? AND n >= 1";

    private final String store = "memory:" + UUID.randomUUID();
    private final LockClient locks = LockClient.connect(store);
    private final LockClient others = LockClient.connect(store);
    private final DataSource database =
            Database.with("CREATE TABLE stock (item VARCHAR(20), n INT)", "INSERT INTO stock VALUES ('book', 1)");
    private final String item = "book";
    private final AtomicInteger done = new AtomicInteger();

    @AfterEach
    void close() {
        locks.close();
        others.close();
    }

    @Test
    void the_statement_is_that_of_the_page() throws IOException {
        assertThat(Files.readString(Path.of("..", "..", "docs", "posts.md"))).contains("`" + SELL + "`");
    }

    @Test
    void a_watchdog() throws InterruptedException {
        try (Lease lease = locks.acquire("report")) {
            makeReport();
        }
        LockOptions fixed = LockOptions.defaults().leaseFor(Duration.ofSeconds(10));
        try (Lease lease = locks.acquire("report", fixed)) {
            makeReport();
        }
        assertThat(done).hasValue(2);
    }

    @Test
    void a_watchdog_renews_what_has_no_time_of_its_own() {
        VirtualTime time = new VirtualTime();
        MemoryLockStore.Server server = new MemoryLockStore.Server(time);
        try (LockClient client =
                LockClient.builder().store(server::connect).timeSource(time).build()) {
            LockOptions fixed = LockOptions.defaults().leaseFor(Duration.ofSeconds(10));
            // Waits until threads that know nothing of this time have delivered both.
            Lease renewed = client.acquireAsync("renewed").toCompletableFuture().join();
            Lease ends =
                    client.acquireAsync("ends", fixed).toCompletableFuture().join();
            time.advance(Duration.ofSeconds(40));
            assertThat(renewed.isValid()).isTrue();
            assertThat(ends.isValid()).isFalse();
        }
    }

    @Test
    void the_lock_of_somebody_else() throws InterruptedException {
        Lease mine = locks.acquire("report");
        others.forceRelease("report");
        Lease theirs = others.acquire("report");
        assertThrows(LeaseLostException.class, mine::release);
        assertTrue(theirs.isValid());
        assertThat(locks.tryAcquire("report")).isEmpty();
    }

    @Test
    void a_row_that_refuses_the_smaller_token() throws Exception {
        DataSource accounts = Database.with(
                "CREATE TABLE account (id INT, balance INT, token BIGINT)", "INSERT INTO account VALUES (7, 100, 0)");
        Lease late = locks.acquire("account:7");
        others.forceRelease("account:7");
        Lease next = others.acquire("account:7");
        try (Connection connection = accounts.getConnection();
                PreparedStatement write = connection.prepareStatement(
                        "UPDATE account SET balance = ?, token = ? WHERE id = ? AND token <= ?")) {
            assertThat(rows(write, 90, next.fencingToken(), 7, next.fencingToken()))
                    .isEqualTo(1);
            assertThat(rows(write, 80, late.fencingToken(), 7, late.fencingToken()))
                    .isZero();
        }
    }

    @Test
    void stock_needs_no_lock() throws SQLException {
        try (Connection connection = database.getConnection();
                PreparedStatement sell = connection.prepareStatement(SELL)) {
            assertThat(rows(sell, item)).isEqualTo(1);
            assertThat(rows(sell, item)).isZero();
        }
    }

    private static int rows(PreparedStatement statement, Object... values) throws SQLException {
        for (int i = 0; i < values.length; i++) {
            statement.setObject(i + 1, values[i]);
        }
        return statement.executeUpdate();
    }

    @Test
    void a_transaction_under_the_lock() throws Exception {
        try (Lease lease = locks.acquire("stock:" + item);
                Connection connection = database.getConnection()) {
            connection.setAutoCommit(false);
            int left = left(connection, item);
            if (left > 0) {
                setLeft(connection, item, left - 1);
            }
            connection.commit();
        }
        try (Connection connection = database.getConnection()) {
            assertThat(left(connection, item)).isZero();
        }
    }

    @Test
    void a_transaction_that_began_before_the_lock() throws Exception {
        try (Connection connection = database.getConnection()) {
            connection.setAutoCommit(false);
            connection.setTransactionIsolation(Connection.TRANSACTION_REPEATABLE_READ);
            int before = left(connection, item);
            lastHolderSellsIt();
            try (Lease lease = locks.acquire("stock:" + item)) {
                int now = left(connection, item);
                assertEquals(before, now);
            }
            connection.commit();
            assertThat(left(connection, item)).isZero();
        }
    }

    private void lastHolderSellsIt() throws SQLException {
        try (Lease lease = others.tryAcquire("stock:" + item).orElseThrow();
                Connection connection = database.getConnection()) {
            lease.ensureValid();
            setLeft(connection, item, 0);
        }
    }

    @Test
    void many_keys() throws InterruptedException {
        try (MultiLease leases = locks.acquireAll(List.of("account:7", "account:3"))) {
            transfer();
        }
        assertThat(done).hasValue(1);
    }

    private void makeReport() {
        done.incrementAndGet();
    }

    private void transfer() {
        assertThat(others.tryAcquire("account:3")).isEmpty();
        done.incrementAndGet();
    }

    private static int left(Connection connection, String item) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery("SELECT n FROM stock WHERE item = '" + item + "'")) {
            assertThat(row.next()).isTrue();
            return row.getInt(1);
        }
    }

    private static void setLeft(Connection connection, String item, int left) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.executeUpdate("UPDATE stock SET n = " + left + " WHERE item = '" + item + "'");
        }
    }
}
