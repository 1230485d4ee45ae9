package io.holdfast.samples.recipes;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.DistributedReadWriteLock;
import io.holdfast.Leadership;
import io.holdfast.Lease;
import io.holdfast.LockClient;
import io.holdfast.Term;
import io.holdfast.jdbc.JdbcGuard;
import io.holdfast.jdbc.JdbcOnce;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Queue;
import java.util.UUID;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Runs the code of docs/which.md without a server. */
class WhichPageTest {

    private final LockClient locks = LockClient.connect("memory:" + UUID.randomUUID());
    private final DataSource database = Database.with();
    private final Queue<String> done = new ConcurrentLinkedQueue<>();
    private final CountDownLatch sent = new CountDownLatch(1);
    private final long id = 42;
    private final long amount = 100;

    @AfterEach
    void close() {
        locks.close();
    }

    @Test
    void a_lock() throws InterruptedException {
        locks.run("order:refund:" + id, lease -> refund(id));
        boolean mine = locks.tryRun("nightly", lease -> nightly());
        assertThat(mine).isTrue();
        assertThat(done).containsExactly("refund 42", "nightly");
    }

    @Test
    void a_guard() throws Exception {
        try (Connection connection = database.getConnection()) {
            JdbcGuard.defaults().createTable(connection);
        }
        try (Lease lease = locks.acquire("order:refund:" + id);
                Connection connection = database.getConnection()) {
            connection.setAutoCommit(false);
            JdbcGuard.defaults().check(connection, lease);
            refund(connection, id);
            connection.commit();
        }
        assertThat(done).containsExactly("refund 42");
    }

    @Test
    void once() throws Exception {
        try (Connection connection = database.getConnection()) {
            JdbcOnce.defaults().createTable(connection);
            connection.setAutoCommit(false);
            for (int request = 0; request < 2; request++) {
                String receipt = JdbcOnce.defaults()
                        .run(connection, "payment:" + id, "amount=" + amount, c -> pay(c, id, amount));
                connection.commit();
                assertThat(receipt).isEqualTo("receipt of 42");
            }
        }
        assertThat(done).containsExactly("payment 42");
    }

    @Test
    void a_leader() throws InterruptedException {
        Leadership outbox = locks.leadership("outbox", term -> send(term));
        try (outbox) {
            assertThat(sent.await(10, TimeUnit.SECONDS)).isTrue();
        }
    }

    @Test
    void permits() throws InterruptedException {
        locks.permits("export", 5).run(permit -> export());
        assertThat(done).containsExactly("export");
    }

    @Test
    void a_read_write_lock() {
        DistributedReadWriteLock catalog = locks.getReadWriteLock("catalog");
        assertThat(catalog.readLock().tryLock()).isTrue();
        catalog.readLock().unlock();
    }

    private void refund(long order) {
        done.add("refund " + order);
    }

    private void refund(Connection connection, long order) throws SQLException {
        assertThat(connection.getAutoCommit()).isFalse();
        refund(order);
    }

    private String pay(Connection connection, long payment, long sum) {
        assertThat(connection).isNotNull();
        assertThat(sum).isEqualTo(amount);
        done.add("payment " + payment);
        return "receipt of " + payment;
    }

    private void nightly() {
        done.add("nightly");
    }

    private void export() {
        done.add("export");
    }

    private void send(Term term) {
        term.ensureValid();
        sent.countDown();
    }
}
