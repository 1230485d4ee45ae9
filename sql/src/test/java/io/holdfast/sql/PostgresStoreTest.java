package io.holdfast.sql;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.holdfast.Lease;
import io.holdfast.LockClient;
import io.holdfast.LockOptions;
import io.holdfast.LockStoreException;
import io.holdfast.spi.AcquireReply;
import io.holdfast.spi.AcquireRequest;
import io.holdfast.spi.LockStore;
import io.holdfast.spi.ReleaseReply;
import io.holdfast.spi.ReleaseRequest;
import io.holdfast.spi.RenewReply;
import io.holdfast.spi.RenewRequest;
import io.holdfast.spi.StoreContext;
import io.holdfast.spi.StoreException;
import io.holdfast.spi.StoreException.Outcome;
import io.holdfast.spi.TimeSource;
import io.holdfast.testkit.contract.RecordingListener;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What only PostgreSQL does: rights, locked rows, ended sessions, warnings. */
class PostgresStoreTest {

    private static final AtomicInteger CLIENTS = new AtomicInteger();

    private final String name = "store:" + UUID.randomUUID();
    private final List<LockStore> stores = new ArrayList<>();

    @AfterEach
    void close() {
        stores.forEach(LockStore::close);
    }

    @Test
    void twoClientsShareALock() throws Exception {
        try (LockClient one = LockClient.connect(url());
                LockClient two = LockClient.connect(url())) {
            try (Lease lease = one.acquire(name)) {
                assertThat(two.tryAcquire(name)).isEmpty();
                assertThat(lease.fencingToken()).isPositive();
            }
            Optional<Lease> next = two.tryAcquire(name, LockOptions.defaults().waitAtMost(Duration.ofSeconds(20)));
            next.orElseThrow().close();
        }
    }

    @Test
    void aMissingTableIsNamedWithItsStatement() throws SQLException {
        String schema = schema();
        assertThatThrownBy(() -> LockClient.connect(Databases.postgres() + "&password=s3cr3t&currentSchema=" + schema)
                        .close())
                .isInstanceOf(LockStoreException.class)
                .hasMessageContainingAll("jdbc:postgresql://127.0.0.1", "createTable=true", "CREATE TABLE")
                .hasMessageNotContaining("s3cr3t");
        LockClient.connect(url() + "&createTable=true&currentSchema=" + schema).close();
        LockClient.connect(Databases.postgres() + "&currentSchema=" + schema).close();
    }

    @Test
    void aMissingRightIsNamedWithItsStatement() throws SQLException {
        String schema = schema();
        LockClient.connect(url() + "&createTable=true&currentSchema=" + schema).close();
        String role = "reader" + CLIENTS.incrementAndGet() + schema;
        Databases.execute(
                Databases.postgres(),
                "CREATE ROLE " + role + " LOGIN",
                "GRANT USAGE ON SCHEMA " + schema + " TO " + role,
                "GRANT SELECT ON ALL TABLES IN SCHEMA " + schema + " TO " + role);
        String url = Databases.postgres().replace("user=test", "user=" + role) + "&currentSchema=" + schema;
        assertThatThrownBy(() -> LockClient.connect(url).close())
                .isInstanceOf(LockStoreException.class)
                .hasMessageContaining("GRANT SELECT, INSERT, UPDATE, DELETE ON holdfast_lock TO")
                .hasMessageContaining("GRANT SELECT, INSERT, UPDATE, DELETE ON holdfast_card TO");
        assertThatThrownBy(() -> LockClient.connect(url.replace("currentSchema=" + schema, "currentSchema=public_none")
                                + "&createTable=true")
                        .close())
                .isInstanceOf(LockStoreException.class)
                .hasMessageContaining("CREATE TABLE");
    }

    /** A forgotten take is a second holder. */
    @Test
    void aServerThatForgetsCommitsIsRefused() {
        assertThatThrownBy(() -> LockClient.connect(url() + "&options=-c%20synchronous_commit=off")
                        .close())
                .isInstanceOf(LockStoreException.class)
                .hasMessageContaining("synchronous_commit");
    }

    /** One locked row made the renewals of all others fail, again and again. */
    @Test
    void aLockedRowDelaysNoOtherRenewal() throws Exception {
        LockStore store = open("a");
        List<RenewRequest> requests = new ArrayList<>();
        for (int i = 0; i < 5; i++) {
            String each = name + i;
            assertThat(take(store, each, "hf-a:" + i)).isInstanceOf(AcquireReply.Granted.class);
            requests.add(RenewRequest.extend(each, "hf-a:" + i, 60_000, 0));
        }
        try (Connection other = locking(name + "2", "FOR UPDATE")) {
            List<CompletableFuture<RenewReply>> answers = renewAll(store, requests);
            for (int i = 0; i < 5; i++) {
                if (i != 2) {
                    assertThat(answers.get(i).get(20, TimeUnit.SECONDS)).isEqualTo(new RenewReply.Renewed(0));
                }
            }
            assertThat(outcome(answers.get(2))).isEqualTo(Outcome.NOT_EXECUTED);
            other.rollback();
        }
        assertThat(renewAll(store, requests).get(2).get(20, TimeUnit.SECONDS)).isEqualTo(new RenewReply.Renewed(0));
    }

    /** The hold can be renewed and ended, and the name not be granted before the transaction ends. */
    @Test
    void aHoldWhoseRowIsGuardedIsNotPassedOn() throws Exception {
        LockStore a = open("a");
        LockStore b = open("b");
        RecordingListener told = new RecordingListener();
        b.listen(told);
        take(a, name, "hf-a:1");
        assertThat(get(b.acquire(AcquireRequest.queueing(name, "hf-b:1", 30_000, 5_000))))
                .isInstanceOf(AcquireReply.Busy.class);
        try (Connection guard = locking(name, "FOR KEY SHARE")) {
            assertThat(get(a.renew(RenewRequest.extend(name, "hf-a:1", 60_000, 0))))
                    .isEqualTo(new RenewReply.Renewed(1));
            assertThat(get(a.release(ReleaseRequest.of(name, "hf-a:1")))).isEqualTo(ReleaseReply.released());
            assertThat(get(b.acquire(AcquireRequest.queueing(name, "hf-b:1", 30_000, 5_000))))
                    .isInstanceOf(AcquireReply.Busy.class);
            assertThat(get(a.acquire(AcquireRequest.queueing(name, "hf-a:2", 30_000, 5_000))))
                    .isInstanceOf(AcquireReply.Busy.class);
            await().atMost(Duration.ofSeconds(20))
                    .until(() -> told.messages(RecordingListener.Kind.RELEASED).size() == 1);
            guard.commit();
        }
        // It keeps its place.
        assertThat(get(a.acquire(AcquireRequest.queueing(name, "hf-a:2", 30_000, 5_000))))
                .isInstanceOf(AcquireReply.Busy.class);
        assertThat(get(b.inspect(name)).holder()).isEqualTo("hf-b:1");
    }

    /** PostgreSQL calls a commit a success whose wait for the standby was cancelled. */
    @Test
    void aCommitWithAWarningIsOfUnknownOutcome() throws Exception {
        String schema = schema();
        String url = url() + "&createTable=true&currentSchema=" + schema;
        LockClient.connect(url).close();
        Databases.execute(
                url.replace("&createTable=true", ""),
                "CREATE FUNCTION warn() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE WARNING 'canceling wait for"
                        + " synchronous replication'; RETURN NEW; END $$",
                "CREATE TRIGGER warn BEFORE UPDATE ON holdfast_lock FOR EACH ROW EXECUTE FUNCTION warn()");
        LockStore store = opened(url, "a");
        assertThat(outcome(store.acquire(AcquireRequest.once(name, "hf-a:1", 30_000))
                        .toCompletableFuture()))
                .isEqualTo(Outcome.UNKNOWN);
    }

    @Test
    void anEndedSessionIsReplaced() throws Exception {
        LockStore store = opened(url(), "ended");
        RecordingListener told = new RecordingListener();
        store.listen(told);
        take(store, name, "hf-ended:1");
        Databases.execute(
                Databases.postgres(),
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'holdfast:ended'");
        // The first command meets the broken connection, and may fail.
        var unused = outcome(store.inspect(name).toCompletableFuture());
        assertThat(get(store.inspect(name)).holder()).isEqualTo("hf-ended:1");
        await().atMost(Duration.ofSeconds(20))
                .until(() -> !told.messages(RecordingListener.Kind.RECONNECTED).isEmpty());
        LockStore other = open("b");
        other.listen(new RecordingListener());
        get(other.forceRelease(name, null));
        await().atMost(Duration.ofSeconds(20))
                .until(() -> !told.messages(RecordingListener.Kind.FORCED).isEmpty());
    }

    /** A firewall or a proxy ends idle connections. The first command failed, though nothing was wrong. */
    @Test
    void aConnectionThatEndedWhileItWasIdleIsReplacedBeforeUse() throws Exception {
        AtomicLong later = new AtomicLong();
        TimeSource system = TimeSource.system();
        TimeSource time = new TimeSource() {
            @Override
            public long nanoTime() {
                return system.nanoTime() + later.get();
            }

            @Override
            public long wallMillis() {
                return system.wallMillis();
            }

            @Override
            public Timer schedule(long delayNanos, Runnable task) {
                return system.schedule(delayNanos, task);
            }
        };
        LockStore store = Databases.open(url() + "&notify=false", new StoreContext("hf-idle", time, "idle" + name));
        stores.add(store);
        get(store.inspect(name));
        // The end of a session is not at once.
        await().atMost(Duration.ofSeconds(20)).until(() -> endSessions("holdfast:idle" + name) == 0);
        later.set(TimeUnit.SECONDS.toNanos(40));
        assertThat(take(store, name, "hf-idle:1")).isInstanceOf(AcquireReply.Granted.class);
    }

    /** Ends the sessions of an application, whose name PostgreSQL cuts. Returns how many there were. */
    private static int endSessions(String application) throws SQLException {
        try (Connection connection = DriverManager.getConnection(Databases.postgres());
                PreparedStatement statement = connection.prepareStatement(
                        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = left(?, 50)")) {
            statement.setString(1, application);
            int ended = 0;
            try (ResultSet rows = statement.executeQuery()) {
                while (rows.next()) {
                    ended++;
                }
            }
            return ended;
        }
    }

    /** Anybody may send to any channel. */
    @Test
    void whatOthersSendMeansNothing() throws Exception {
        LockStore store = opened(url(), "told");
        RecordingListener told = new RecordingListener();
        store.listen(told);
        take(store, name, "hf-told:1");
        Databases.execute(
                Databases.postgres(),
                "SELECT pg_notify('hf-told', t) FROM unnest(ARRAY['', 'x', 'g', 'g a b c', 'z a b', 'c ', E'g \\u0001 = 1"
                        + " 1 1 1 99999999999999999999']) t",
                "SELECT pg_notify('hf-told', 'c " + QueueText.word(name) + " hf-told:1')");
        await().atMost(Duration.ofSeconds(20)).until(() -> !told.messages().isEmpty());
        assertThat(told.messages())
                .extracting(RecordingListener.Message::kind)
                .containsExactly(RecordingListener.Kind.CONTENDED);
    }

    @Test
    void aClientWithoutMessagesIsServedToo() throws Exception {
        LockStore a = opened(url() + "&notify=false", "a" + name);
        LockStore b = opened(url() + "&notify=false", "b" + name);
        RecordingListener told = new RecordingListener();
        b.listen(told);
        take(a, name, "hf-a" + name + ":1");
        String waiting = "hf-b" + name + ":1";
        assertThat(get(b.acquire(AcquireRequest.queueing(name, waiting, 30_000, 5_000))))
                .isInstanceOf(AcquireReply.Busy.class);
        get(a.release(ReleaseRequest.of(name, "hf-a" + name + ":1")));
        await().atMost(Duration.ofSeconds(20)).until(() -> !told.grants().isEmpty());
        assertThat(told.grants().get(0).holderId()).isEqualTo(waiting);
    }

    private static String url() {
        return Databases.postgres() + "&createTable=true";
    }

    /** Returns the name of a new schema. */
    private static String schema() throws SQLException {
        String schema = "s" + UUID.randomUUID().toString().replace("-", "");
        Databases.execute(Databases.postgres(), "CREATE SCHEMA " + schema);
        return schema;
    }

    private LockStore open(String client) {
        return opened(url(), client);
    }

    private LockStore opened(String url, String client) {
        LockStore store = Databases.open(url, new StoreContext("hf-" + client, TimeSource.system(), client));
        stores.add(store);
        return store;
    }

    private static AcquireReply take(LockStore store, String name, String holderId) throws Exception {
        return get(store.acquire(AcquireRequest.once(name, holderId, 60_000)));
    }

    private static List<CompletableFuture<RenewReply>> renewAll(LockStore store, List<RenewRequest> requests) {
        List<CompletableFuture<RenewReply>> answers = new ArrayList<>();
        requests.forEach(each -> answers.add(new CompletableFuture<>()));
        store.renewAll(requests, (index, reply, error) -> {
            if (error == null) {
                answers.get(index).complete(reply);
            } else {
                answers.get(index).completeExceptionally(error);
            }
        });
        return answers;
    }

    private static Connection locking(String name, String lock) throws SQLException {
        return TableTest.foreign(
                Databases.postgres(),
                "SELECT 1 FROM holdfast_lock WHERE lock_key = '" + LockKey.of(name) + "' " + lock);
    }

    /** Returns how the command failed; null if it did not. */
    private static @Nullable Outcome outcome(CompletableFuture<?> stage) throws Exception {
        try {
            stage.get(20, TimeUnit.SECONDS);
            return null;
        } catch (ExecutionException e) {
            assertThat(e.getCause()).isInstanceOf(StoreException.class);
            return ((StoreException) e.getCause()).outcome();
        }
    }

    private static <T> T get(CompletionStage<T> stage) throws Exception {
        return stage.toCompletableFuture().get(20, TimeUnit.SECONDS);
    }
}
