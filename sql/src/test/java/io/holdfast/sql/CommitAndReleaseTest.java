package io.holdfast.sql;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.holdfast.Lease;
import io.holdfast.LeaseLostException;
import io.holdfast.LockClient;
import io.holdfast.LockOptions;
import io.holdfast.MultiLease;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.postgresql.PGConnection;
import org.postgresql.PGNotification;

/** The next hold begins when the data of the transaction can be seen, whatever happens at the commit. */
class CommitAndReleaseTest {

    private static final Duration LONG = Duration.ofSeconds(30);

    /** What happens at the commit, with the connection that makes it. */
    private interface AtCommit {
        void commit(Connection real) throws SQLException;
    }

    private final String name = "commit:" + UUID.randomUUID();
    private final List<AutoCloseable> open = new ArrayList<>();
    private LockClient one;
    private LockClient two;

    @BeforeEach
    void connect() throws SQLException {
        one = client();
        two = client();
        Databases.execute(
                Databases.postgres(),
                "CREATE TABLE IF NOT EXISTS commit_test (k TEXT, v BIGINT, UNIQUE (k, v) DEFERRABLE INITIALLY DEFERRED)");
    }

    @AfterEach
    void close() throws Exception {
        for (int i = open.size() - 1; i >= 0; i--) {
            open.get(i).close();
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {Connection.TRANSACTION_READ_COMMITTED, Connection.TRANSACTION_SERIALIZABLE})
    void theNextHoldBeginsWhenTheDataCanBeSeen(int isolation) throws Exception {
        CountDownLatch reached = new CountDownLatch(1);
        CountDownLatch resumed = new CountDownLatch(1);
        Lease lease = one.acquire(name);
        Connection data = transaction(real -> {
            reached.countDown();
            join(resumed);
            real.commit();
        });
        data.setTransactionIsolation(isolation);
        SqlGuard guard = SqlGuard.check(data, lease);
        CompletableFuture<Long> next = waiter();
        insert(data, 1);
        CompletableFuture<Void> commit = async(() -> guard.commitAndRelease(data));
        assertThat(reached.await(30, TimeUnit.SECONDS)).isTrue();
        // The release is in the row, and yet nobody can take the lock.
        assertThat(holder()).isEmpty();
        assertThat(lease.isValid()).isFalse();
        assertThat(two.tryAcquire(name + "other")).isPresent();
        assertThat(one.tryAcquire(name)).isEmpty();
        assertThatThrownBy(() -> next.get(1, TimeUnit.SECONDS))
                .isInstanceOf(java.util.concurrent.TimeoutException.class);
        resumed.countDown();
        commit.get(30, TimeUnit.SECONDS);
        assertThat(next.get(30, TimeUnit.SECONDS)).isEqualTo(1);
        lease.close();
    }

    /** Each holder sees what all before it have committed. */
    @Test
    void noHolderMissesACommit() throws Exception {
        int each = 15;
        List<CompletableFuture<Void>> clients = new ArrayList<>();
        for (LockClient client : List.of(one, one, two, two)) {
            clients.add(async(() -> {
                Connection data = transaction(Connection::commit);
                for (int i = 0; i < each; i++) {
                    try (Lease lease = client.acquire(name)) {
                        SqlGuard guard = SqlGuard.check(data, lease);
                        insert(data, rows(data) + 1);
                        guard.commitAndRelease(data);
                    }
                }
            }));
        }
        for (CompletableFuture<Void> client : clients) {
            client.get(2, TimeUnit.MINUTES);
        }
        assertThat(rows()).isEqualTo(4L * each);
    }

    @Test
    void aCommitThatTheDatabaseRefusesLeavesTheLockFree() throws Exception {
        Lease lease = one.acquire(name);
        Connection data = transaction(Connection::commit);
        SqlGuard guard = SqlGuard.check(data, lease);
        CompletableFuture<Long> next = waiter();
        insert(data, 1);
        insert(data, 1);
        assertThatThrownBy(() -> guard.commitAndRelease(data))
                .isInstanceOf(SQLException.class)
                .hasMessageContaining("unique");
        assertThat(next.get(30, TimeUnit.SECONDS)).isZero();
        lease.close();
    }

    /** As a process that ends, or a cut line: before the commit has arrived, or before its answer has. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aConnectionThatIsCutAtTheCommitLeavesTheLockFree(boolean arrives) throws Exception {
        Lease lease = one.acquire(name);
        Connection data = transaction(real -> {
            if (arrives) {
                real.commit();
                throw new SQLException("The answer was lost", "08006");
            }
            Databases.execute(Databases.postgres(), "SELECT pg_terminate_backend(" + backend(real) + ")");
            real.commit();
        });
        SqlGuard guard = SqlGuard.check(data, lease);
        CompletableFuture<Long> next = waiter();
        insert(data, 1);
        assertThatThrownBy(() -> guard.commitAndRelease(data)).isInstanceOf(SQLException.class);
        assertThat(next.get(30, TimeUnit.SECONDS)).isEqualTo(arrives ? 1 : 0);
        lease.close();
    }

    /** The release tells the first waiter too, who finds the guard then. */
    @Test
    void theCommitTellsTheFirstWaiter() throws Exception {
        Connection listener = DriverManager.getConnection(Databases.postgres());
        open.add(listener);
        Lease lease = one.acquire(name);
        CompletableFuture<Long> next = waiter();
        String channel = ask("SELECT queue FROM holdfast_lock WHERE lock_key = '" + LockKey.of(name) + "'")
                .split(":", 2)[0];
        sql(listener, "LISTEN \"" + channel + "\"");
        Connection data = transaction(real -> {
            notes(listener);
            real.commit();
        });
        SqlGuard guard = SqlGuard.check(data, lease);
        guard.commitAndRelease(data);
        List<String> after = new ArrayList<>();
        await().atMost(LONG).until(() -> after.addAll(notes(listener)));
        assertThat(after).anySatisfy(text -> assertThat(text).startsWith("r ").contains(QueueText.word(name)));
        next.get(30, TimeUnit.SECONDS);
    }

    /** A guard that ended at a savepoint: the release may have passed the lock on, and the commit must not follow. */
    @Test
    void nothingIsCommittedIfTheGuardHadEnded() throws Exception {
        Lease lease = one.acquire(name);
        Connection data = transaction(Connection::commit);
        Savepoint before = data.setSavepoint();
        SqlGuard guard = SqlGuard.check(data, lease);
        data.rollback(before);
        CompletableFuture<Long> next = waiter();
        insert(data, 1);
        CompletableFuture<Void> commit = async(() -> {
            // So that the next hold is there in any case.
            lease.release();
            next.join();
            guard.commitAndRelease(data);
        });
        assertThatThrownBy(() -> commit.get(30, TimeUnit.SECONDS)).hasRootCauseInstanceOf(LeaseLostException.class);
        assertThat(next.get(30, TimeUnit.SECONDS)).isZero();
        data.rollback();
        assertThat(rows()).isZero();
    }

    @Test
    void severalLeasesAreReleasedWithTheCommit() throws Exception {
        try (MultiLease both = one.acquireAll(List.of(name, name + "b"), LockOptions.defaults())) {
            Connection data = transaction(real -> {
                assertThat(two.tryAcquire(name)).isEmpty();
                assertThat(two.tryAcquire(name + "b")).isEmpty();
                real.commit();
            });
            SqlGuard.check(data, both.leases()).commitAndRelease(data);
            two.tryAcquire(name).orElseThrow().close();
            two.tryAcquire(name + "b").orElseThrow().close();
        }
    }

    /** Nobody else can have held the lock, so what was done under it is whole. */
    @Test
    void aLeaseThatHasRunOutDoesNotPreventTheCommit() throws Exception {
        Lease lease = one.acquire(name, LockOptions.defaults().leaseFor(Duration.ofSeconds(1)));
        Connection data = transaction(Connection::commit);
        SqlGuard guard = SqlGuard.check(data, lease);
        insert(data, 1);
        await().atMost(LONG).until(() -> !lease.isValid());
        guard.commitAndRelease(data);
        assertThat(rows()).isEqualTo(1);
        two.tryAcquire(name).orElseThrow().close();
    }

    @Test
    void aReadOnlyTransactionIsCommittedToo() throws Exception {
        Lease lease = one.acquire(name);
        Connection data = transaction(Connection::commit);
        data.setReadOnly(true);
        SqlGuard.check(data, lease).commitAndRelease(data);
        two.tryAcquire(name).orElseThrow().close();
    }

    /** Begins to wait in another client, and returns how many rows it finds when it holds the lock. */
    private CompletableFuture<Long> waiter() {
        CompletableFuture<Long> found = two.acquireAsync(name)
                .thenApply(lease -> {
                    try (lease) {
                        return rows();
                    } catch (SQLException e) {
                        throw new IllegalStateException(e);
                    }
                })
                .toCompletableFuture();
        await().atMost(LONG).until(() -> two.inspect(name).waitingClients() == 1);
        return found;
    }

    private LockClient client() {
        LockClient client = LockClient.connect(Databases.postgres() + "&createTable=true");
        open.add(client);
        return client;
    }

    /** Returns a connection in a transaction, whose commit is this. */
    private Connection transaction(AtCommit atCommit) throws SQLException {
        Connection real = DriverManager.getConnection(Databases.postgres());
        real.setAutoCommit(false);
        synchronized (open) {
            open.add(real);
        }
        return (Connection) Proxy.newProxyInstance(
                Connection.class.getClassLoader(), new Class<?>[] {Connection.class}, (proxy, method, arguments) -> {
                    if (method.getName().equals("commit")) {
                        atCommit.commit(real);
                        return null;
                    }
                    try {
                        return method.invoke(real, arguments);
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                });
    }

    private interface Step {
        void run() throws Exception;
    }

    private static CompletableFuture<Void> async(Step step) {
        CompletableFuture<Void> done = new CompletableFuture<>();
        Thread thread = new Thread(() -> {
            try {
                step.run();
                done.complete(null);
            } catch (Throwable e) {
                done.completeExceptionally(e);
            }
        });
        thread.setDaemon(true);
        thread.start();
        return done;
    }

    private static void join(CountDownLatch latch) {
        try {
            if (!latch.await(1, TimeUnit.MINUTES)) {
                throw new IllegalStateException("nobody resumed it");
            }
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private static List<String> notes(Connection listener) throws SQLException {
        PGNotification[] notes = listener.unwrap(PGConnection.class).getNotifications(100);
        List<String> texts = new ArrayList<>();
        for (PGNotification note : notes == null ? new PGNotification[0] : notes) {
            texts.add(note.getParameter());
        }
        return texts;
    }

    private static int backend(Connection connection) throws SQLException {
        return connection.unwrap(PGConnection.class).getBackendPID();
    }

    private void insert(Connection data, long value) throws SQLException {
        sql(data, "INSERT INTO commit_test VALUES ('" + name + "', " + value + ")");
    }

    private long rows() throws SQLException {
        try (Connection connection = DriverManager.getConnection(Databases.postgres())) {
            return rows(connection);
        }
    }

    private long rows(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery("SELECT count(*) FROM commit_test WHERE k = '" + name + "'")) {
            rows.next();
            return rows.getLong(1);
        }
    }

    private String holder() throws SQLException {
        return ask("SELECT holder FROM holdfast_lock WHERE lock_key = '" + LockKey.of(name)
                + "' ORDER BY base DESC LIMIT 1");
    }

    private static String ask(String sql) throws SQLException {
        try (Connection connection = DriverManager.getConnection(Databases.postgres());
                Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery(sql)) {
            rows.next();
            return rows.getString(1);
        }
    }

    private static void sql(Connection connection, String sql) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }
}
