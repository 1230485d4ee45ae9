package io.holdfast.sql;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.Lease;
import io.holdfast.LockClient;
import io.holdfast.LockOptions;
import io.holdfast.testkit.servers.PgBouncer;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A standby of PostgreSQL takes over behind a pooler. The clients stay connected to the pooler, so a session that had
 * the old server goes on at the new one.
 */
@Tag("deep")
class PgBouncerTakeoverTest {

    private static final String NAME = "takeover";

    private static final LockOptions MINUTE = LockOptions.defaults().leaseFor(Duration.ofMinutes(1));

    private PostgresPair pair;
    private PgBouncer pooler;

    @BeforeEach
    void start() throws Exception {
        pair = new PostgresPair();
        pooler = Databases.ownPgBouncer(pair.primary.port());
    }

    @AfterEach
    void end() {
        pooler.close();
        pair.close();
    }

    /** As an operator does it. With a synchronous standby, a killed primary leaves nothing behind that was committed. */
    private void switchOver() throws Exception {
        pooler.hold();
        pair.primary.kill();
        pair.promote();
        pooler.pointTo(pair.standby.port());
        pooler.letPass();
    }

    /** Returns a client whose waiters outlast a takeover on a slow machine. */
    private static LockClient patient(String url) {
        return LockClient.builder().uri(url).storeTimeout(Duration.ofMinutes(1)).build();
    }

    private static int port(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet answer = statement.executeQuery("SELECT inet_server_port()")) {
            assertThat(answer.next()).isTrue();
            return answer.getInt(1);
        }
    }

    /**
     * Gives the standby another clock from its start as the primary on: the functions of a schema that is searched first.
     */
    private void setClockOfStandby(int seconds) throws SQLException {
        Databases.execute(
                pair.primary.url(),
                "CREATE SCHEMA clock",
                "ALTER DATABASE postgres SET search_path = clock, pg_catalog, public");
        for (String function : new String[] {"clock_timestamp", "statement_timestamp", "now"}) {
            Databases.execute(
                    pair.primary.url(),
                    "CREATE FUNCTION clock." + function + "() RETURNS TIMESTAMPTZ VOLATILE LANGUAGE sql AS 'SELECT"
                            + " pg_catalog." + function + "() + CASE inet_server_port() WHEN " + pair.standby.port()
                            + " THEN " + seconds + " ELSE 0 END * INTERVAL ''1 second'''");
        }
    }

    /** A clock that is behind lets holds last longer. One that is ahead would end them early, as the docs say. */
    @ParameterizedTest(name = "clock {0} s ahead")
    @ValueSource(ints = {0, -2})
    void nobodyNoticesAPlannedSwitchover(int ahead) throws Exception {
        pair.makeSynchronous();
        setClockOfStandby(ahead);
        String url = pooler.url();
        try (Connection session = DriverManager.getConnection(url);
                Kept kept = new Kept(url);
                LockClient holder = Crew.client(url);
                LockClient waiter = patient(url);
                Crew crew = new Crew(url);
                Crowd crowd = new Crowd(url)) {
            Lease held = holder.acquire(NAME, MINUTE);
            CompletableFuture<Lease> next = waiter.acquireAsync(NAME).toCompletableFuture();
            crew.awaitProgress();
            crowd.awaitProgress();
            assertThat(port(session)).isEqualTo(pair.primary.port());

            switchOver();
            crew.awaitProgress();
            crowd.awaitProgress();
            assertThat(port(session)).isEqualTo(pair.standby.port());
            assertThat(held.isValid()).isTrue();
            assertThat(next).isNotDone();
            session.setAutoCommit(false);
            SqlGuard.check(session, held);
            session.commit();
            held.release();
            next.get(30, TimeUnit.SECONDS).release();
            kept.assertKept();
        }
    }

    @Test
    void aKilledPrimaryIsReplacedByASynchronousStandby() throws Exception {
        pair.makeSynchronous();
        String url = pooler.url();
        try (Kept kept = new Kept(url);
                LockClient waiter = patient(url);
                LockClient holder = Crew.client(url);
                Crew crew = new Crew(url);
                Crowd crowd = new Crowd(url)) {
            Lease held = holder.acquire(NAME, MINUTE);
            CompletableFuture<Lease> next = waiter.acquireAsync(NAME).toCompletableFuture();
            crew.awaitProgress();
            crowd.awaitProgress();
            pair.primary.kill();
            pair.promote();
            pooler.pointTo(pair.standby.port());
            crew.awaitProgress();
            crowd.awaitProgress();
            held.release();
            next.get(30, TimeUnit.SECONDS).release();
            kept.assertKept();
        }
    }

    @Test
    void anAsynchronousStandbyForgetsWhatItHadNotReceived() throws Exception {
        try (Forgotten forgotten = new Forgotten(pooler.url())) {
            pair.standby.kill();
            Lease lease = forgotten.take();
            pooler.hold();
            pair.primary.kill();
            pair.standby.restart();
            pair.promote();
            pooler.pointTo(pair.standby.port());
            pooler.letPass();
            forgotten.assertForgotten(lease);
        }
    }

    /**
     * Two holders, if a write that follows on the new server undid a renewal there: the standby did not have a change
     * that was read, and counts its own as the same version.
     */
    @Test
    void aRowThatTheOldServerToldIsNotWrittenOnTheNewOne() throws Exception {
        String key = LockKey.of(NAME);
        LockTable table = new PostgresTable(false);
        try (Link link = Databases.connect(pooler.url())) {
            table.make(link, key, NAME, 5);
            long base = requireNonNull(table.take(link, key, "hf-a:1", 10_000)).base();
            pair.awaitInStep();
            pair.standby.kill();
            Row known = requireNonNull(table.read(link, key));
            assertThat(write(table, link, known, "hf-b:1 1 z b 1 1 1 1;").done())
                    .isTrue();
            Row read = requireNonNull(table.read(link, key));

            pooler.hold();
            pair.primary.kill();
            pair.standby.restart();
            pair.promote();
            pooler.pointTo(pair.standby.port());
            pooler.letPass();
            assertThat(table.renew(link, List.of(new LockTable.Renewal(key, base, "hf-a:1", 60_000, 1))))
                    .hasSize(1);
            Row renewed = requireNonNull(table.read(link, key));
            assertThat(renewed.version()).isEqualTo(read.version());

            LockTable.Written late = write(table, link, read, read.queue() + "hf-c:1 1 z b 1 1 1 1;");
            assertThat(late.done()).isFalse();
            assertThat(requireNonNull(table.read(link, key)).endMicros()).isEqualTo(renewed.endMicros());
            // The answer is the row of the new server, by which the command is decided anew.
            assertThat(requireNonNull(late.found()).mark())
                    .isEqualTo(renewed.mark())
                    .isNotEqualTo(read.mark());
        }
    }

    private static LockTable.Written write(LockTable table, Link link, Row before, String queue) throws SQLException {
        Row.Change waiting = new Row.Change(
                before.base(), before.holder(), before.endMicros(), 0, before.leaseMillis(), queue, "", 1);
        return table.write(link, LockKey.of(NAME), before, waiting, List.of(), false);
    }

    /** A hold that is granted at the takeover lasts as long as its holder counts. */
    @Test
    void aHoldIsNotGrantedByTheOldClockOnTheNewServer() throws Exception {
        pair.makeSynchronous();
        setClockOfStandby(2);
        String key = LockKey.of(NAME);
        LockTable table = new PostgresTable(false);
        try (Link link = Databases.connect(pooler.url())) {
            table.make(link, key, NAME, 5);
            Row read = requireNonNull(table.read(link, key));
            switchOver();
            Row.Change grant = TableTest.hold(read, "hf-a:1");
            LockTable.Written late = table.write(link, key, read, grant, List.of(), false);
            assertThat(late.done()).isFalse();
            Row found = requireNonNull(late.found());
            assertThat(found.nowMicros()).isGreaterThan(read.nowMicros() + 2_000_000);
            assertThat(table.write(link, key, found, TableTest.hold(found, "hf-a:1"), List.of(), false)
                            .done())
                    .isTrue();
            Row granted = requireNonNull(table.read(link, key));
            assertThat(granted.endMicros()).isEqualTo(found.nowMicros() + 30_000_000);
        }
    }
}
