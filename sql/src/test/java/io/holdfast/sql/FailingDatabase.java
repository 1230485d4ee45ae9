package io.holdfast.sql;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.awaitility.Awaitility.await;

import io.holdfast.Lease;
import io.holdfast.LockClient;
import io.holdfast.MultiLease;
import io.holdfast.testkit.faults.FaultProxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * A database that fails under three clients. After each failure: never two holders, nobody stuck, no lease lost in
 * silence, and each error one of the store.
 */
abstract class FailingDatabase {

    /** Returns the URL of the users of the locks. */
    abstract String url();

    /** Returns the URL of an administrator. */
    abstract String adminUrl();

    abstract int port();

    abstract void kill() throws Exception;

    abstract void restart() throws Exception;

    abstract void pause() throws Exception;

    abstract void resume() throws Exception;

    /** Ends the sessions of all users of the locks. */
    abstract void endSessions() throws Exception;

    abstract void readOnly(boolean on) throws Exception;

    /** Returns a session that keeps everybody from the table until it is closed. */
    abstract Connection lockedTable() throws SQLException;

    /** Returns how many deadlocks the server has ended. */
    abstract long deadlocks() throws SQLException;

    /** Returns what a session must have done so that a deadlock ends the transaction of the other. */
    abstract List<String> toSurviveADeadlock();

    @BeforeEach
    void makeTables() {
        LockClient.connect(url() + "&createTable=true").close();
    }

    @Test
    void a_killed_server_keeps_the_holds() throws Exception {
        try (Kept kept = new Kept(url());
                Crew crew = new Crew(url())) {
            crew.awaitProgress();
            kill();
            crew.awaitError("jdbc:", "//127.0.0.1");
            restart();
            crew.awaitProgress();
            kept.assertKept();
        }
    }

    @Test
    void a_server_that_stood_still_for_longer_than_a_lease_goes_on() throws Exception {
        try (Crew crew = new Crew(url());
                LockClient holder = Crew.client(url())) {
            crew.awaitProgress();
            String name = "lost:" + UUID.randomUUID();
            Lease lease = holder.acquire(name);
            CompletableFuture<Boolean> told = new CompletableFuture<>();
            lease.onLost(() -> told.complete(true));
            pause();
            try {
                await().atMost(Duration.ofSeconds(40)).until(() -> !lease.isValid());
                crew.awaitError("jdbc:", "//127.0.0.1");
            } finally {
                resume();
            }
            await().atMost(Duration.ofSeconds(20)).until(told::isDone);
            crew.awaitProgress();
            holder.acquire(name).release();
        }
    }

    @Test
    void a_server_that_stood_still_for_a_moment_keeps_the_holds() throws Exception {
        try (Kept kept = new Kept(url());
                Crew crew = new Crew(url())) {
            for (int i = 0; i < 2; i++) {
                crew.awaitProgress();
                pause();
                Thread.sleep(800);
                resume();
            }
            crew.awaitProgress();
            kept.assertKept();
        }
    }

    @Test
    void ended_sessions_are_replaced() throws Exception {
        try (Kept kept = new Kept(url());
                Crew crew = new Crew(url())) {
            for (int i = 0; i < 20; i++) {
                endSessions();
                Thread.sleep(100);
            }
            crew.awaitProgress();
            kept.assertKept();
        }
    }

    @Test
    void cut_half_closed_and_forgotten_connections_are_replaced() throws Exception {
        try (FaultProxy proxy = FaultProxy.to("127.0.0.1", port())) {
            String through = url().replace(":" + port() + "/", ":" + proxy.port() + "/");
            try (Kept kept = new Kept(through);
                    Crew crew = new Crew(through)) {
                crew.awaitProgress();
                proxy.cutAll();
                crew.awaitProgress();
                proxy.halfClose();
                crew.awaitProgress();
                proxy.forgetAll();
                crew.awaitProgress();
                proxy.holdReplies(true);
                crew.awaitError("did not answer within");
                proxy.holdReplies(false);
                crew.awaitProgress();
                kept.assertKept();
            }
        }
    }

    /** A host that hangs accepts connections, so the first new one gets no answer, either. All settings are the defaults. */
    @Test
    void a_waiter_outlasts_a_host_that_hangs_and_a_new_connection_to_it() throws Exception {
        String name = "hangs:" + UUID.randomUUID();
        try (FaultProxy proxy = FaultProxy.to("127.0.0.1", port());
                LockClient near = LockClient.connect(url());
                LockClient waiting = LockClient.connect(url().replace(":" + port() + "/", ":" + proxy.port() + "/"))) {
            Lease held = near.acquire(name);
            CompletableFuture<Lease> wait = waiting.acquireAsync(name).toCompletableFuture();
            Thread.sleep(1_000);
            proxy.holdReplies(true);
            // The next command fails within 4 s, and a connection that is made then within 2.5 s more.
            Thread.sleep(6_500);
            proxy.forgetAll();
            proxy.holdReplies(false);
            Thread.sleep(4_000);
            assertThatCode(() -> wait.getNow(null)).doesNotThrowAnyException();
            held.release();
            wait.get(60, TimeUnit.SECONDS).release();
        }
    }

    @Test
    void a_read_only_server_grants_nothing_and_keeps_the_holds() throws Exception {
        try (Kept kept = new Kept(url());
                Crew crew = new Crew(url())) {
            crew.awaitProgress();
            readOnly(true);
            try {
                crew.awaitError("read-only");
            } finally {
                readOnly(false);
            }
            crew.awaitProgress();
            kept.assertKept();
        }
    }

    @Test
    void a_dropped_table_is_named_with_its_statement() throws Exception {
        try (Crew crew = new Crew(url())) {
            crew.awaitProgress();
            Databases.execute(adminUrl(), "DROP TABLE holdfast_lock");
            crew.awaitError("lacks a table of Holdfast", "createTable=true", "CREATE TABLE");
            // A new table knows no hold: until then, the leases of the old one may be valid.
            Thread.sleep(Crew.LEASE.toMillis());
            makeTables();
            crew.awaitProgress();
        }
    }

    /** As an ALTER TABLE does, or a backup. */
    @Test
    void a_locked_table_grants_nothing_and_keeps_the_holds() throws Exception {
        try (Kept kept = new Kept(url());
                Crew crew = new Crew(url())) {
            crew.awaitProgress();
            try (Connection locking = lockedTable()) {
                crew.awaitError("did not execute a command");
                assertThat(locking.isClosed()).isFalse();
            }
            crew.awaitProgress();
            kept.assertKept();
        }
    }

    /** As somebody does who has edited a row and has not committed. */
    @Test
    void a_locked_row_holds_up_its_lock_alone() throws Exception {
        try (Kept kept = new Kept(url());
                Crew crew = new Crew(url())) {
            crew.awaitProgress();
            try (Connection locking = TableTest.foreign(adminUrl(), lock(LockKey.of(Crew.NAME)))) {
                crew.awaitError("jdbc:", "//127.0.0.1");
                kept.assertKept();
                locking.rollback();
            }
            crew.awaitProgress();
        }
    }

    /**
     * Of the store's statements only those of {@code acquireAll} wait for a row while they have another, and in one order:
     * so it takes somebody else for a deadlock.
     */
    @Test
    void a_deadlock_ends_and_the_names_are_taken_afterwards() throws Exception {
        List<String> names =
                Stream.of("a:", "b:").map(each -> each + UUID.randomUUID()).toList();
        List<String> locks = names.stream()
                .map(LockKey::of)
                .sorted()
                .map(FailingDatabase::lock)
                .toList();
        List<String> second = new ArrayList<>(toSurviveADeadlock());
        second.add(locks.get(1));
        long before = deadlocks();
        try (LockClient client = Crew.client(url())) {
            client.acquireAll(names).release();
            for (int i = 0; i < 3; i++) {
                CompletableFuture<MultiLease> all;
                try (Connection other = TableTest.foreign(adminUrl(), second.toArray(String[]::new));
                        Statement statement = other.createStatement()) {
                    all = client.acquireAllAsync(names).toCompletableFuture();
                    // Until the store's transaction has the first row and waits for the second.
                    Thread.sleep(100);
                    statement.execute(locks.get(0));
                    other.rollback();
                }
                all.get(30, TimeUnit.SECONDS).release();
            }
        }
        // PostgreSQL counts a little later.
        await().atMost(Duration.ofSeconds(30)).until(() -> deadlocks() > before);
    }

    private static String lock(String key) {
        return "SELECT 1 FROM holdfast_lock WHERE lock_key = '" + key + "' FOR UPDATE";
    }
}
