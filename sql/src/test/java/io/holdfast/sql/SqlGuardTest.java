package io.holdfast.sql;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.holdfast.Lease;
import io.holdfast.LeaseLostException;
import io.holdfast.LockClient;
import io.holdfast.LockOptions;
import io.holdfast.MultiLease;
import io.holdfast.Permits;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SqlGuardTest {

    private static final Duration LONG = Duration.ofSeconds(30);

    private final String name = "guard:" + UUID.randomUUID();
    private final List<AutoCloseable> open = new ArrayList<>();
    private LockClient one;
    private LockClient two;

    @BeforeEach
    void connect() {
        one = client();
        two = client();
    }

    @AfterEach
    void close() throws Exception {
        for (int i = open.size() - 1; i >= 0; i--) {
            open.get(i).close();
        }
    }

    /** The theorem: whatever the lease's end and the clock say. */
    @Test
    void noOtherHoldBeginsWhileAGuardedTransactionIsOpen() throws Exception {
        Lease lease = one.acquire(name, LockOptions.defaults().leaseFor(Duration.ofMinutes(1)));
        Connection data = transaction();
        SqlGuard.check(data, lease);
        end(lease);
        CompletableFuture<Lease> next = two.acquireAsync(name).toCompletableFuture();
        assertThat(two.tryAcquire(name, LockOptions.defaults().waitAtMost(Duration.ofMillis(1_500))))
                .isEmpty();
        assertThat(next).isNotDone();
        // Also when the row says that the hold has ended for long.
        assertThat(ended()).isTrue();
        data.commit();
        Lease later = next.get(30, TimeUnit.SECONDS);
        assertThat(later.fencingToken()).isGreaterThan(lease.fencingToken());
        later.close();
    }

    /** Two leases of one hold have one row, and both guards would pass. */
    @Test
    void aGuardedHoldIsNotHandedOnHere() throws Exception {
        Lease lease = one.acquire(name, LockOptions.defaults().leaseFor(Duration.ofMinutes(1)));
        CompletableFuture<Lease> next = one.acquireAsync(name).toCompletableFuture();
        Connection data = transaction();
        SqlGuard.check(data, lease);
        end(lease);
        assertThatThrownBy(() -> next.get(1, TimeUnit.SECONDS))
                .isInstanceOf(java.util.concurrent.TimeoutException.class);
        data.commit();
        try (Lease later = next.get(30, TimeUnit.SECONDS)) {
            assertThat(later.holderId()).isNotEqualTo(lease.holderId());
        }
    }

    @Test
    void aGuardedHoldIsNotHandedOnWhenItIsReleased() throws Exception {
        Lease lease = one.acquire(name);
        CompletableFuture<Lease> next = one.acquireAsync(name).toCompletableFuture();
        Connection data = transaction();
        SqlGuard.check(data, lease);
        lease.close();
        assertThatThrownBy(() -> next.get(1, TimeUnit.SECONDS))
                .isInstanceOf(java.util.concurrent.TimeoutException.class);
        data.rollback();
        try (Lease later = next.get(30, TimeUnit.SECONDS)) {
            assertThat(later.holderId()).isNotEqualTo(lease.holderId());
        }
    }

    /** The grant would change the key, which the releaser's own transaction locks. */
    @Test
    void aReleaseBeforeTheCommitLeavesTheGrantOut() throws Exception {
        Lease lease = one.acquire(name);
        CompletableFuture<Lease> next = two.acquireAsync(name).toCompletableFuture();
        await().atMost(LONG).until(() -> two.inspect(name).waitingClients() == 1);
        Connection data = transaction();
        SqlGuard guard = SqlGuard.check(data, lease);
        lease.close();
        assertThat(holder()).isEmpty();
        assertThat(next).isNotDone();
        guard.verify(data);
        data.commit();
        next.get(30, TimeUnit.SECONDS).close();
    }

    /** A statement that waited for a guard held its connection for the whole lock timeout. */
    @Test
    void noConnectionWaitsForAGuard() throws Exception {
        Lease[] leases = new Lease[6];
        for (int i = 0; i < leases.length; i++) {
            leases[i] = one.acquire(name + i, LockOptions.defaults().leaseFor(Duration.ofMinutes(1)));
            SqlGuard.check(transaction(), leases[i]);
        }
        for (Lease each : leases) {
            end(each);
        }
        for (int i = 0; i < leases.length; i++) {
            assertThat(two.tryAcquire(name + i)).isEmpty();
        }
        assertThatThrownBy(() -> two.acquireAll(
                                List.of(name + "free", name + "0"),
                                LockOptions.defaults().waitAtMost(Duration.ofMillis(300)))
                        .close())
                .isInstanceOf(io.holdfast.LockTimeoutException.class);
        assertThat(waits()).isZero();
        two.tryAcquire(name + "other").orElseThrow().close();
    }

    @Test
    void aGuardedLeaseIsRenewedAndReleased() throws Exception {
        try (LockClient client = LockClient.builder()
                .uri(url())
                .leaseTime(Duration.ofMillis(1_500))
                .build()) {
            Lease lease = client.acquire(name);
            Connection data = transaction();
            SqlGuard.check(data, lease);
            long ends = ends();
            await().atMost(LONG).until(() -> ends() > ends);
            assertThat(lease.isValid()).isTrue();
            data.commit();
            lease.close();
            two.tryAcquire(name).orElseThrow().close();
        }
    }

    @Test
    void aTransactionOfAnOldHoldCannotCommit() throws Exception {
        Lease lease = one.acquire(name);
        assertThat(two.forceRelease(name)).isTrue();
        Lease later = two.acquire(name);
        Connection data = transaction();
        // The message about the force may have come first.
        assertThatThrownBy(() -> SqlGuard.check(data, lease)).isInstanceOf(LeaseLostException.class);
        data.rollback();
        later.close();
    }

    /** As a message that was lost: the client believes in its lease. */
    @Test
    void aMissingRowMakesTheTransactionFail() throws Exception {
        Lease lease = one.acquire(name);
        Databases.execute(
                Databases.postgres(), "UPDATE holdfast_lock SET base = base + 7 WHERE lock_key = '" + key() + "'");
        Connection data = transaction();
        assertThatThrownBy(() -> SqlGuard.check(data, lease))
                .isInstanceOf(LeaseLostException.class)
                .hasMessageContainingAll("has ended", "snapshot is older", "first the lock, then the transaction");
        assertThatThrownBy(() -> sql(data, "SELECT 1"))
                .isInstanceOf(SQLException.class)
                .satisfies(e -> assertThat(((SQLException) e).getSQLState()).isEqualTo("25P02"));
        data.rollback();
    }

    @Test
    void aSnapshotThatIsOlderThanTheHoldIsRefused() throws Exception {
        one.acquire(name).close();
        Connection data = transaction();
        data.setTransactionIsolation(Connection.TRANSACTION_REPEATABLE_READ);
        sql(data, "SELECT 1 FROM holdfast_lock LIMIT 1");
        try (Lease lease = two.acquire(name)) {
            assertThatThrownBy(() -> SqlGuard.check(data, lease))
                    .isInstanceOf(LeaseLostException.class)
                    .hasMessageContaining("snapshot is older");
            data.rollback();
            SqlGuard.check(data, lease);
            data.commit();
        }
    }

    /** Renewals since the snapshot must not refuse a guard. */
    @ParameterizedTest
    @ValueSource(ints = {Connection.TRANSACTION_READ_COMMITTED, Connection.TRANSACTION_REPEATABLE_READ})
    void aGuardPassesARowThatWasRenewed(int isolation) throws Exception {
        try (Lease lease = one.acquire(name)) {
            Connection data = transaction();
            data.setTransactionIsolation(isolation);
            sql(data, "SELECT 1");
            lease.extend(Duration.ofMinutes(2));
            SqlGuard.check(data, lease).verify(data);
            lease.extend(Duration.ofMinutes(4));
            SqlGuard.check(data, lease).verify(data);
            data.commit();
        }
    }

    @Test
    void aRollbackToAnEarlierSavepointEndsTheGuardAndIsFound() throws Exception {
        try (Lease lease = one.acquire(name)) {
            Connection data = transaction();
            Savepoint before = data.setSavepoint();
            SqlGuard guard = SqlGuard.check(data, lease);
            data.rollback(before);
            guard.verify(data);
            data.rollback();
            SqlGuard again = SqlGuard.check(data, lease);
            data.rollback();
            assertThatThrownBy(() -> again.verify(data))
                    .isInstanceOf(LeaseLostException.class)
                    .hasMessageContaining("not the one that was checked");
            data.rollback();
        }
    }

    @Test
    void severalLeasesAreGuardedTogether() throws Exception {
        try (MultiLease both = one.acquireAll(List.of(name + "a", name + "b"), LockOptions.defaults())) {
            Connection data = transaction();
            SqlGuard.check(data, both.leases());
            both.release();
            assertThat(two.tryAcquire(name + "a")).isEmpty();
            assertThat(two.tryAcquire(name + "b")).isEmpty();
            data.commit();
            two.tryAcquire(name + "a").orElseThrow().close();
        }
    }

    @Test
    void whatCannotBeGuardedIsRefused() throws Exception {
        Connection data = transaction();
        Permits permits = one.permits(name, 2);
        try (Lease lease = one.acquire(name);
                Lease permit = permits.acquire();
                LockClient memory = LockClient.connect("memory:test");
                Lease other = memory.acquire(name)) {
            assertThatThrownBy(() -> SqlGuard.check(data, permit))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("permit");
            assertThatThrownBy(() -> SqlGuard.check(data, other))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("JdbcGuard");
            assertThatThrownBy(() -> SqlGuard.check(data)).isInstanceOf(IllegalArgumentException.class);
            data.setReadOnly(true);
            SqlGuard.check(data, lease).verify(data);
            data.commit();
            data.setReadOnly(false);
            sql(data, "SET TRANSACTION READ ONLY");
            assertThatThrownBy(() -> SqlGuard.check(data, lease))
                    .isInstanceOf(SQLException.class)
                    .hasMessageContaining("setReadOnly(true)");
            data.rollback();
            data.setAutoCommit(true);
            assertThatThrownBy(() -> SqlGuard.check(data, lease))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("setAutoCommit(false)");
        }
    }

    /** A role that may only read the table gets the statement to run, and one that may update needs no more. */
    @Test
    void theRightToUpdateIsEnough() throws Exception {
        String role = "app" + UUID.randomUUID().toString().replace("-", "");
        Databases.execute(
                Databases.postgres(), "CREATE ROLE " + role + " LOGIN", "GRANT SELECT ON holdfast_lock TO " + role);
        String url = Databases.postgres().replace("user=test", "user=" + role);
        try (Lease lease = one.acquire(name)) {
            Connection data = transaction(url);
            assertThat(SqlGuard.canCheck(data, lease)).isTrue();
            assertThatThrownBy(() -> SqlGuard.check(data, lease))
                    .isInstanceOf(SQLException.class)
                    .hasMessageContaining("GRANT SELECT, UPDATE ON public.holdfast_lock TO");
            data.rollback();
            Databases.execute(Databases.postgres(), "GRANT UPDATE ON holdfast_lock TO " + role);
            SqlGuard.check(data, lease);
            data.commit();
        }
    }

    @Test
    void anotherDatabaseIsRefused() throws Exception {
        String database = "d" + UUID.randomUUID().toString().replace("-", "");
        Databases.execute(Databases.postgres(), "CREATE DATABASE " + database);
        String url = Databases.postgres().replaceFirst("/[a-z]+\\?", "/" + database + "?");
        try (Lease lease = one.acquire(name)) {
            Connection data = transaction(url);
            assertThat(SqlGuard.canCheck(data, lease)).isFalse();
            assertThatThrownBy(() -> SqlGuard.check(data, lease))
                    .isInstanceOf(SQLException.class)
                    .hasMessageContaining("another database");
            data.rollback();
            // Even with a table of locks of its own.
            LockClient.connect(url + "&createTable=true").close();
            assertThatThrownBy(() -> SqlGuard.check(data, lease))
                    .isInstanceOf(SQLException.class)
                    .hasMessageContaining("another database");
            data.rollback();
        }
    }

    /** Nobody can take it, so it must not look free. */
    @Test
    void aGuardedNameIsShownAsTaken() throws Exception {
        Lease lease = one.acquire(name);
        Connection data = transaction();
        SqlGuard.check(data, lease);
        lease.close();
        assertThat(two.inspect(name).holder()).isEqualTo(Optional.of("(an open transaction under its guard)"));
        data.commit();
        assertThat(two.inspect(name).holder()).isEmpty();
    }

    /** Of two transactions in the same order, so that the first commits though its lease is over. */
    @Test
    void anOldHolderCommitsBeforeTheNextBegins() throws Exception {
        Databases.execute(Databases.postgres(), "CREATE TABLE IF NOT EXISTS guard_test (k TEXT, v BIGINT)");
        Lease lease = one.acquire(name, LockOptions.defaults().leaseFor(Duration.ofMinutes(1)));
        Connection data = transaction();
        SqlGuard guard = SqlGuard.check(data, lease);
        end(lease);
        CompletableFuture<Lease> next = two.acquireAsync(name).toCompletableFuture();
        await().atMost(LONG).until(() -> two.inspect(name).waitingClients() == 1);
        sql(data, "INSERT INTO guard_test VALUES ('" + name + "', 1)");
        // A waiter's entry in the row must not look like the end of the guard.
        guard.verify(data);
        data.commit();
        try (Lease later = next.get(30, TimeUnit.SECONDS);
                Connection reader = DriverManager.getConnection(Databases.postgres());
                Statement statement = reader.createStatement();
                ResultSet rows = statement.executeQuery("SELECT count(*) FROM guard_test WHERE k = '" + name + "'")) {
            rows.next();
            assertThat(rows.getInt(1)).isEqualTo(1);
            assertThat(later.isValid()).isTrue();
        }
    }

    /** As the hold of a process that has ended without a release. */
    @Test
    void aHoldThatRanOutIsNotTakenOverWhileItIsGuarded() throws Exception {
        Lease lease = one.acquire(name, LockOptions.defaults().leaseFor(Duration.ofMinutes(1)));
        Connection data = transaction();
        SqlGuard guard = SqlGuard.check(data, lease);
        Databases.execute(
                Databases.postgres(),
                "UPDATE holdfast_lock SET ends = ends - INTERVAL '1 hour', version = version + 1 WHERE lock_key = '"
                        + key() + "'");
        CompletableFuture<Lease> next = two.acquireAsync(name).toCompletableFuture();
        assertThat(two.tryAcquire(name)).isEmpty();
        await().atMost(LONG).until(() -> two.inspect(name).waitingClients() == 1);
        assertThat(holder()).isEqualTo(lease.holderId());
        assertThat(next).isNotDone();
        guard.verify(data);
        data.commit();
        next.get(30, TimeUnit.SECONDS).close();
    }

    /** Ends the time of a fixed lease. */
    private static void end(Lease lease) {
        try {
            lease.extend(Duration.ofMillis(200));
        } catch (LeaseLostException e) {
            // The answer came after that time.
        }
        await().atMost(LONG).until(() -> !lease.isValid());
    }

    private static String url() {
        return Databases.postgres() + "&createTable=true";
    }

    private LockClient client() {
        LockClient client = LockClient.connect(url());
        open.add(client);
        return client;
    }

    private Connection transaction() throws SQLException {
        return transaction(Databases.postgres());
    }

    private Connection transaction(String url) throws SQLException {
        Connection connection = DriverManager.getConnection(url);
        connection.setAutoCommit(false);
        open.add(connection);
        return connection;
    }

    private String key() {
        return LockKey.of(name);
    }

    private static void sql(Connection connection, String sql) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }

    private String ask(String sql) throws SQLException {
        try (Connection connection = DriverManager.getConnection(Databases.postgres());
                Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery(sql)) {
            rows.next();
            return rows.getString(1);
        }
    }

    private String newest(String what) throws SQLException {
        return ask(
                "SELECT " + what + " FROM holdfast_lock WHERE lock_key = '" + key() + "' ORDER BY base DESC LIMIT 1");
    }

    private String holder() throws SQLException {
        return newest("holder");
    }

    private long ends() throws SQLException {
        return Long.parseLong(newest("(EXTRACT(EPOCH FROM ends) * 1000)::BIGINT::TEXT"));
    }

    private boolean ended() throws SQLException {
        return newest("ends < clock_timestamp()").equals("t");
    }

    /** Returns how many of the clients' statements wait for a lock of the database now. */
    private int waits() throws SQLException {
        return Integer.parseInt(ask("SELECT count(*)::TEXT FROM pg_stat_activity WHERE wait_event_type = 'Lock'"));
    }
}
