package io.holdfast.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.Lease;
import io.holdfast.LeaseLostException;
import io.holdfast.LockClient;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * An old holder is stopped at each point between its last look at the lease and its commit, while a new holder works.
 * With the guard the database never keeps a second refund or a lost update. Without the guard the same schedule gives
 * both, which shows that the test can see them.
 *
 * <p>Both holders refund an order that is refunded at most once, and take the amount from a balance: they read first
 * and write what follows from the read. The leases are those of two clients on one store, and the old one is lost by
 * the store's own end of the hold, after the old holder's last look at it.
 */
@Tag("deep") // quick: JdbcGuardTest
class StoppedHolderTest {

    /** Where the old holder is stopped. The last look at the lease is before the first of them. */
    enum Stop {
        BEFORE_THE_TRANSACTION,
        AFTER_THE_CHECK,
        AFTER_THE_READ,
        AFTER_THE_FIRST_WRITE,
        BEFORE_THE_COMMIT
    }

    private static final int BALANCE = 100;
    private static final int AMOUNT = 10;

    private final String id = UUID.randomUUID().toString();

    static Stream<Arguments> schedules() {
        return Stream.of(Database.values())
                .flatMap(database -> Stream.of(
                                Connection.TRANSACTION_READ_COMMITTED,
                                Connection.TRANSACTION_REPEATABLE_READ,
                                Connection.TRANSACTION_SERIALIZABLE)
                        .map(level -> Arguments.of(database, level)));
    }

    @ParameterizedTest
    @MethodSource("schedules")
    void with_the_guard_there_is_never_a_second_refund_or_a_lost_update(Database database, int level) throws Exception {
        for (Stop stop : Stop.values()) {
            Outcome outcome = play(database, level, stop, true);
            assertThat(outcome.refunds())
                    .as("refunds, stopped %s: %s", stop, outcome)
                    .isEqualTo(1);
            assertThat(outcome.balance())
                    .as("balance, stopped %s: %s", stop, outcome)
                    .isEqualTo(BALANCE - 2 * AMOUNT);
        }
    }

    /**
     * The databases and levels that do not find the conflict by themselves. PostgreSQL and H2 above READ COMMITTED, and
     * MariaDB and MySQL at SERIALIZABLE, do: both holders write the balance.
     */
    static Stream<Arguments> unprotected() {
        return Stream.of(
                Arguments.of(Database.POSTGRESQL, Connection.TRANSACTION_READ_COMMITTED),
                Arguments.of(Database.MARIADB, Connection.TRANSACTION_READ_COMMITTED),
                Arguments.of(Database.MARIADB, Connection.TRANSACTION_REPEATABLE_READ),
                Arguments.of(Database.MYSQL, Connection.TRANSACTION_READ_COMMITTED),
                Arguments.of(Database.MYSQL, Connection.TRANSACTION_REPEATABLE_READ),
                Arguments.of(Database.H2, Connection.TRANSACTION_READ_COMMITTED));
    }

    @ParameterizedTest
    @MethodSource("unprotected")
    void without_the_guard_the_same_schedules_show_both(Database database, int level) throws Exception {
        List<Outcome> outcomes = new ArrayList<>();
        for (Stop stop : Stop.values()) {
            outcomes.add(play(database, level, stop, false));
        }
        assertThat(outcomes).anyMatch(outcome -> outcome.refunds() == 2);
        // Two refunds and a withdrawal that leave more than three times the amount would: an update is lost.
        assertThat(outcomes).anyMatch(outcome -> outcome.refunds() == 2 && outcome.balance() == BALANCE - AMOUNT);
    }

    /** What the database has in the end, and how it came. */
    private record Outcome(int refunds, int balance, List<String> story) {}

    /**
     * Plays one schedule. The new holder refunds the order, and then takes the amount once more for another purpose, so
     * that the balance tells a lost update from a refund that was not made.
     */
    private Outcome play(Database database, int level, Stop stop, boolean guarded) throws Exception {
        String order = "order:refund:" + id + ":" + stop + ":" + level + ":" + guarded;
        prepare(database, order);
        List<String> story = Collections.synchronizedList(new ArrayList<>());
        String store = "memory:" + id;
        CountDownLatch stopped = new CountDownLatch(1);
        CountDownLatch resumed = new CountDownLatch(1);
        try (LockClient oldClient = LockClient.connect(store);
                LockClient newClient = LockClient.connect(store)) {
            CompletableFuture<Void> old = CompletableFuture.runAsync(() -> {
                try {
                    Lease lease = oldClient.acquire(order);
                    // The last look at the lease. The guard's own look is taken out of its way: the database alone
                    // decides.
                    lease.ensureValid();
                    Lease unaware = new StubLease(lease.name(), lease.fencingToken(), lease.holderId());
                    Holder holder = new Holder(database, level, order, guarded, unaware, at -> {
                        if (at == stop) {
                            stopped.countDown();
                            resumed.await();
                        }
                    });
                    story.add("old: " + holder.refund());
                } catch (LeaseLostException | SQLException e) {
                    story.add("old refused: " + e);
                } catch (InterruptedException e) {
                    throw new IllegalStateException(e);
                }
            });
            assertThat(stopped.await(30, TimeUnit.SECONDS)).isTrue();
            // The store ends the old hold: an administrator's release, or its expiry while the process was stopped.
            assertThat(newClient.forceRelease(order)).isTrue();
            try (Lease lease = newClient.acquire(order)) {
                Holder holder = new Holder(database, level, order, guarded, lease, at -> {});
                CompletableFuture<Void> work = CompletableFuture.runAsync(() -> {
                    work(story, "new", holder::refund);
                    work(story, "new again", holder::withdraw);
                });
                try {
                    work.get(400, TimeUnit.MILLISECONDS);
                } catch (TimeoutException e) {
                    story.add("new waits for the old transaction");
                }
                resumed.countDown();
                old.get(30, TimeUnit.SECONDS);
                work.get(30, TimeUnit.SECONDS);
            }
        } finally {
            resumed.countDown();
        }
        try (Connection connection = database.connect()) {
            return new Outcome(
                    number(connection, "SELECT COUNT(*) FROM refunds WHERE id = '" + order + "'"),
                    number(connection, "SELECT n FROM balances WHERE id = '" + order + "'"),
                    List.copyOf(story));
        }
    }

    private interface Work {
        String run() throws SQLException, InterruptedException;
    }

    /** Repeats the transaction where the database asks for that. */
    private static void work(List<String> story, String who, Work work) {
        for (int i = 0; i < 5; i++) {
            try {
                story.add(who + ": " + work.run());
                return;
            } catch (SQLException e) {
                story.add(who + " repeats: " + e.getSQLState());
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        }
        throw new IllegalStateException("The new holder came to no end: " + story);
    }

    private interface StopPoint {
        void at(Stop stop) throws InterruptedException;
    }

    private record Holder(Database database, int level, String order, boolean guarded, Lease lease, StopPoint point) {

        /** Refunds the order unless it is refunded. */
        String refund() throws SQLException, InterruptedException {
            point.at(Stop.BEFORE_THE_TRANSACTION);
            try (Connection connection = begin()) {
                point.at(Stop.AFTER_THE_CHECK);
                boolean refunded = number(connection, "SELECT COUNT(*) FROM refunds WHERE id = '" + order + "'") > 0;
                int balance = number(connection, "SELECT n FROM balances WHERE id = '" + order + "'");
                point.at(Stop.AFTER_THE_READ);
                if (!refunded) {
                    Database.execute(connection, "INSERT INTO refunds VALUES ('" + order + "')");
                    point.at(Stop.AFTER_THE_FIRST_WRITE);
                    set(connection, balance - AMOUNT);
                }
                point.at(Stop.BEFORE_THE_COMMIT);
                connection.commit();
                return refunded ? "found it refunded" : "refunded";
            }
        }

        /** Takes the amount in a transaction of its own. */
        String withdraw() throws SQLException {
            try (Connection connection = begin()) {
                int balance = number(connection, "SELECT n FROM balances WHERE id = '" + order + "'");
                set(connection, balance - AMOUNT);
                connection.commit();
                return "withdrew";
            }
        }

        private void set(Connection connection, int balance) throws SQLException {
            Database.execute(connection, "UPDATE balances SET n = " + balance + " WHERE id = '" + order + "'");
        }

        private Connection begin() throws SQLException {
            Connection connection = database.connect();
            try {
                connection.setTransactionIsolation(level);
                connection.setAutoCommit(false);
                if (guarded) {
                    JdbcGuard.defaults().check(connection, lease);
                }
                return connection;
            } catch (SQLException | RuntimeException e) {
                connection.close();
                throw e;
            }
        }
    }

    private static void prepare(Database database, String order) throws SQLException {
        try (Connection connection = database.connect()) {
            JdbcGuard.defaults().createTable(connection);
            Database.execute(
                    connection,
                    "CREATE TABLE IF NOT EXISTS refunds (id VARCHAR(200) NOT NULL)",
                    "CREATE TABLE IF NOT EXISTS balances (id VARCHAR(200) NOT NULL PRIMARY KEY, n INT NOT NULL)",
                    "INSERT INTO balances VALUES ('" + order + "', " + BALANCE + ")");
        }
    }

    private static int number(Connection connection, String query) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery(query)) {
            assertThat(rows.next()).isTrue();
            return rows.getInt(1);
        }
    }
}
