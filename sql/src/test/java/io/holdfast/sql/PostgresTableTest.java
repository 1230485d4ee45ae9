package io.holdfast.sql;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.holdfast.record.NameRecord;
import io.holdfast.spi.AcquireRequest;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.postgresql.PGConnection;

class PostgresTableTest extends TableTest {

    @Override
    String url() {
        return Databases.postgres() + "&createTable=true";
    }

    @Override
    LockTable table() {
        return new PostgresTable(true);
    }

    /** Two holders, if the purge deleted all rows of a key of which one is old. */
    @Test
    void aPurgeTakesTheStaleRowAndLeavesTheLock() throws SQLException {
        table.make(link, key, "name", 5);
        long base = take("hf-a:1");
        table.make(link, key, "name", 77);
        link.update("UPDATE holdfast_lock SET ends = ends - INTERVAL '3 days' WHERE lock_key = ? AND base = 0", key);
        assertThat(rows()).isEqualTo(2);
        purge();
        assertThat(rows()).isEqualTo(1);
        assertThat(read().base()).isEqualTo(base);
        assertThat(read().holder()).isEqualTo("hf-a:1");
    }

    /** Two holders, if a write for the first row of a name fits a row that the same statement has made once more. */
    @Test
    void aMakeThatIsExecutedTwiceMakesTwoVersions() throws SQLException {
        table.make(link, key, "name", 5);
        Row read = read();
        take("hf-a:1");
        table.make(link, key, "name", 5);
        Row.Change grant =
                new Row.Change(read.base() + 1, "hf-b:1", read.nowMicros() + 60_000_000, 0, 60_000, "", "", 0);
        assertThat(table.write(link, key, read, grant, List.of(), false).done()).isFalse();
        assertThat(read().holder()).isEqualTo("hf-a:1");
    }

    /** A purge that waited for the take, and looked at its subselect alone, deleted the row of a held lock. */
    @Test
    void aPurgePassesByARowThatIsBeingTaken() throws SQLException {
        table.make(link, key, "name", 5);
        link.update("UPDATE holdfast_lock SET ends = ends - INTERVAL '3 days' WHERE lock_key = ?", key);
        try (Connection taker = foreign(
                Databases.postgres(),
                "UPDATE holdfast_lock SET holder = 'hf-b:1', ends = clock_timestamp() + INTERVAL '1 minute',"
                        + " base = 9, version = version + 1 WHERE lock_key = '" + key + "'")) {
            purge();
            taker.commit();
        }
        purge();
        assertThat(read().holder()).isEqualTo("hf-b:1");
    }

    /** So that the next try needs no read. */
    @Test
    void aChangeOfNothingAnswersWithTheRow() throws SQLException {
        table.make(link, key, "name", 5);
        Row free = read();
        long base = take("hf-a:1");
        LockTable.Written written = table.write(link, key, free, hold(free, "hf-b:1"), List.of(), false);
        assertThat(written.done()).isFalse();
        assertThat(requireNonNull(written.found()).holder()).isEqualTo("hf-a:1");

        Row held = read();
        Row.Change waited = new Row.Change(
                base, "hf-a:1", held.endMicros(), 0, 30_000, "hf-b:1 1 z b 1 1 1 1;", "", held.contended() + 1);
        assertThat(write(held, waited)).isTrue();
        LockTable.Written released = table.release(link, key, base, "hf-a:1");
        assertThat(released.done()).isFalse();
        assertThat(requireNonNull(released.found()).queue()).isEqualTo(waited.queue());
        assertThat(released.found().version()).isEqualTo(held.version() + 1);
    }

    /** A statement sees what was there when it began. It tells what it has waited for, so that the next try fits. */
    @Test
    void aChangeThatHadToWaitTellsWhatItWaitedFor() throws Exception {
        link.update("SET lock_timeout = 0");
        link.update("SET statement_timeout = 0");
        link.connection().setNetworkTimeout(Runnable::run, 60_000);
        table.make(link, key, "name", 5);
        long base = take("hf-a:1");
        Row found = afterWait("queue = 'hf-b:1 1 z b 1 1 1 1;'", () -> table.release(link, key, base, "hf-a:1"));
        assertThat(found.queue()).isEqualTo("hf-b:1 1 z b 1 1 1 1;");
        Row held = read();
        assertThat(held.nowMicros()).isGreaterThanOrEqualTo(found.nowMicros());
        found = afterWait(
                "settings = 5", () -> table.write(link, key, held, ended(held, held.nowMicros()), List.of(), false));
        assertThat(found.settings()).isEqualTo(5);
        Row again = read();
        found = afterWait(
                "holder = 'hf-b:1', base = base + 1",
                () -> table.write(link, key, again, hold(again, "hf-c:1"), List.of(), false));
        assertThat(found.holder()).isEqualTo("hf-b:1");
        assertThat(found.base()).isEqualTo(base + 1);
        assertThat(write(found, hold(found, "hf-c:1"))).isTrue();
        assertThat(shown("synchronous_commit")).isEqualTo("on");
    }

    private Row afterWait(String change, Callable<LockTable.Written> statement) throws Exception {
        try (Connection other = foreign(
                Databases.postgres(),
                "UPDATE holdfast_lock SET " + change + ", version = version + 1 WHERE lock_key = '" + key + "'")) {
            CompletableFuture<LockTable.Written> answer = CompletableFuture.supplyAsync(() -> {
                try {
                    return statement.call();
                } catch (Exception e) {
                    throw new IllegalStateException(e);
                }
            });
            awaitLockWait();
            other.commit();
            LockTable.Written written = answer.get(20, TimeUnit.SECONDS);
            assertThat(written.done()).isFalse();
            return requireNonNull(written.found());
        }
    }

    /** A later date would take a hold for over that was renewed since the read began. */
    @Test
    void aReadThatIsHeldUpIsAsOfItsBeginning() throws Exception {
        link.update("SET lock_timeout = 0");
        link.update("SET statement_timeout = 0");
        link.connection().setNetworkTimeout(Runnable::run, 60_000);
        table.make(link, key, "name", 5);
        Databases.execute(
                Databases.postgres(),
                "CREATE SCHEMA held_up",
                "CREATE FUNCTION held_up.pass() RETURNS BOOLEAN LANGUAGE plpgsql AS 'BEGIN PERFORM pg_advisory_xact_lock(39);"
                        + " RETURN true; END'",
                "CREATE VIEW held_up.holdfast_lock AS SELECT * FROM public.holdfast_lock WHERE held_up.pass()");
        try {
            link.update("SET search_path = held_up, public");
            for (boolean all : new boolean[] {false, true}) {
                try (Connection other = foreign(Databases.postgres(), "SELECT pg_advisory_xact_lock(39)")) {
                    CompletableFuture<Row> read = CompletableFuture.supplyAsync(() -> read(all));
                    awaitLockWait();
                    long since = clockMicros();
                    other.rollback();
                    assertThat(read.get(20, TimeUnit.SECONDS).nowMicros()).isLessThanOrEqualTo(since);
                }
            }
        } finally {
            Databases.execute(Databases.postgres(), "DROP SCHEMA held_up CASCADE");
        }
    }

    private Row read(boolean all) {
        try {
            Row row = all ? table.readAll(link, List.of(key)).get(key) : table.read(link, key);
            return requireNonNull(row);
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    private static long clockMicros() throws SQLException {
        try (Connection connection = DriverManager.getConnection(Databases.postgres());
                Statement statement = connection.createStatement();
                ResultSet clock = statement.executeQuery("SELECT " + LockTable.standardMicros("clock_timestamp()"))) {
            clock.next();
            return clock.getLong(1);
        }
    }

    /** Waits until a statement of this test waits for a row. */
    private void awaitLockWait() throws SQLException {
        int pid = link.connection().unwrap(PGConnection.class).getBackendPID();
        try (Connection watching = DriverManager.getConnection(Databases.postgres());
                PreparedStatement waits = watching.prepareStatement(
                        "SELECT 1 FROM pg_stat_activity WHERE pid = ? AND wait_event_type = 'Lock'")) {
            waits.setInt(1, pid);
            await().atMost(Duration.ofSeconds(20)).until(() -> {
                try (ResultSet found = waits.executeQuery()) {
                    return found.next();
                }
            });
        }
    }

    /** A client 10 ms away would otherwise find another version each time that it writes. */
    @Test
    void anEntryIsAppendedWhateverHasBecomeOfTheQueue() throws Exception {
        table.make(link, key, "name", 5);
        long base = take("hf-a:1");
        Row held = read();
        NameRecord.Entry entry = new NameRecord.Entry(
                AcquireRequest.queueing("name", "hf-x:1", 30_000, 5_000), held.nowMicros() * 1_000);
        assertThat(table.append(link, key, held, entry)).as("nobody waits").isNull();
        Row.Change waited = new Row.Change(base, "hf-a:1", held.endMicros(), 0, 30_000, "hf-b:1 1 z b 1 1 1 1;", "", 1);
        assertThat(write(held, waited)).isTrue();
        Row read = read();
        // The lock is passed on, and somebody else comes.
        Row.Change passed =
                new Row.Change(base + 1, "hf-b:1", held.endMicros(), 0, 30_000, "hf-a:2 1 z b 1 1 1 1;", "", 0);
        assertThat(write(read, passed)).isTrue();
        table.make(link, key, "name", 77);
        Row after = requireNonNull(table.append(link, key, read, entry));
        assertThat(after.queue()).startsWith("hf-a:2 1 z b 1 1 1 1;hf-x:1 ");
        assertThat(after).usingRecursiveComparison().ignoringFields("nowMicros").isEqualTo(read());
        assertThat(after.base()).isEqualTo(base + 1);
        assertThat(table.append(link, key, read, entry)).as("waits already").isNull();
        NameRecord.Entry holder = new NameRecord.Entry(
                AcquireRequest.queueing("name", "hf-b:1", 30_000, 5_000), held.nowMicros() * 1_000);
        assertThat(table.append(link, key, read, holder)).as("holds it").isNull();
        NameRecord.Entry other = new NameRecord.Entry(
                AcquireRequest.queueing("name", "hf-y:1", 30_000, 5_000), held.nowMicros() * 1_000);
        assertThat(table.append(link, key, at(read, read.nowMicros() - Link.LATE_MICROS - 1_000_000), other))
                .as("late")
                .isNull();
        assertThat(write(after, ended(after, after.nowMicros()))).isTrue();
        assertThat(table.append(link, key, read, other)).as("free").isNull();
    }

    /** One lock that is taken, waited for, or locked by somebody delays or fails no other. */
    @Test
    void severalAreTakenAndReleasedByOneStatement() throws SQLException {
        String other = LockKey.of("other:" + key);
        String waited = LockKey.of("waited:" + key);
        String locked = LockKey.of("locked:" + key);
        for (String each : List.of(key, other, waited, locked)) {
            table.make(link, each, "name", 5);
        }
        table.make(link, other, "name", 77);
        link.update("UPDATE holdfast_lock SET queue = 'hf-w:1 1 z b 1 1 1 1;' WHERE lock_key = ?", waited);
        List<LockTable.Wanted> wanted = List.of(
                new LockTable.Wanted(locked, "hf-a:1", 30_000),
                new LockTable.Wanted(key, "hf-a:2", 30_000),
                new LockTable.Wanted(waited, "hf-a:3", 30_000),
                new LockTable.Wanted(other, "hf-a:4", 60_000),
                new LockTable.Wanted(LockKey.of("missing:" + key), "hf-a:5", 30_000));
        Map<LockTable.Wanted, Long> taken;
        try (Connection holder = foreign(
                Databases.postgres(), "SELECT 1 FROM holdfast_lock WHERE lock_key = '" + locked + "' FOR UPDATE")) {
            taken = table.takeAll(link, wanted);
            holder.rollback();
        }
        assertThat(taken).containsOnlyKeys(wanted.get(1), wanted.get(3));
        Row row = requireNonNull(table.read(link, other));
        assertThat(row.holder()).isEqualTo("hf-a:4");
        assertThat(taken).containsEntry(wanted.get(3), row.base());
        assertThat(row.endMicros() - row.nowMicros()).isBetween(30_000_000L, 60_000_000L);
        assertThat(table.takeAll(link, wanted).keySet()).containsExactly(wanted.get(0));

        Holds.Held held = new Holds.Held("name", key, "hf-a:2", false, taken.get(wanted.get(1)), 0);
        Holds.Held ended = new Holds.Held("name", other, "hf-b:4", false, row.base(), 0);
        assertThat(table.releaseAll(link, List.of(ended, held))).containsExactly(held);
        assertThat(read().holder()).isEmpty();
        assertThat(requireNonNull(table.read(link, other)).holder()).isEqualTo("hf-a:4");
        assertThat(shown("synchronous_commit")).isEqualTo("on");
        link.clockWas(read().nowMicros() - Link.LATE_MICROS - 1_000_000, link.nanoTime());
        assertThat(table.takeAll(link, wanted)).isEmpty();
    }

    /** A session-level setting would reach other applications behind a pooler. */
    @Test
    void aReleaseLeavesNothingInTheSession() throws SQLException {
        table.make(link, key, "name", 5);
        assertThat(table.release(link, key, take("hf-a:1"), "hf-a:1").done()).isTrue();
        assertThat(shown("synchronous_commit")).isEqualTo("on");
        String before = shown("idle_in_transaction_session_timeout");
        link.together(() -> table.readLocked(link, key));
        assertThat(shown("idle_in_transaction_session_timeout")).isEqualTo(before);
        assertThat(shown("transaction_isolation")).isEqualTo("read committed");
        assertThat(shown("lock_timeout")).isEqualTo("1s");
        assertThat(shown("statement_timeout")).isEqualTo("2s");
    }

    /** A locked read of the newest row that skipped locked rows would answer with the stale one. */
    @Test
    void aLockedReadWaitsForTheNewestRow() throws SQLException {
        table.make(link, key, "name", 5);
        take("hf-a:1");
        table.make(link, key, "name", 77);
        try (Connection holder = foreign(
                Databases.postgres(), "SELECT 1 FROM holdfast_lock WHERE lock_key = '" + key + "' FOR UPDATE")) {
            assertThatThrownBy(() -> link.together(() -> table.readLocked(link, key)))
                    .isInstanceOfSatisfying(
                            SQLException.class, e -> assertThat(e.getSQLState()).isEqualTo("55P03"));
            holder.rollback();
        }
        Row row = link.together(() -> table.readLocked(link, key));
        assertThat(row).isNotNull();
        assertThat(row.holder()).isEqualTo("hf-a:1");
    }

    /** A guard locks the key of the row: renewals and releases pass it, the next hold does not, and nothing waits. */
    @Test
    void aLockOnTheKeyKeepsOutOnlyTheNextHold() throws SQLException {
        table.make(link, key, "name", 5);
        long base = take("hf-a:1");
        try (Connection guard = foreign(
                Databases.postgres(), "SELECT 1 FROM holdfast_lock WHERE lock_key = '" + key + "' FOR KEY SHARE")) {
            assertThat(renew(base, "hf-a:1", 60_000, 0)).hasSize(1);
            Row held = read();
            assertThat(write(held, hold(held, "hf-b:1"))).isFalse();
            assertThat(table.release(link, key, base, "hf-a:1").done()).isTrue();
            assertThat(take("hf-b:1")).isZero();
            guard.commit();
        }
        assertThat(take("hf-b:1")).isGreaterThan(base);
    }

    /**
     * With the name alone as key, a pair became 60 times slower while another transaction's snapshot was open. With the
     * base in the key, it still did if the table had few names and fresh statistics: PostgreSQL then collected all rows of
     * the name and sorted them. So this table has few names, and they are counted when the dead rows are there.
     */
    @Test
    void deadRowsOfEarlierHoldsAreNeverMet() throws SQLException {
        String schema = "dead" + key.substring(0, 9);
        Databases.execute(Databases.postgres(), "CREATE SCHEMA " + schema);
        link.close();
        link = connected(url() + "&currentSchema=" + schema);
        for (int i = 0; i < 5; i++) {
            table.make(link, LockKey.of("other:" + i), "other", 5);
        }
        table.make(link, key, "name", 5);
        try (Connection report = foreign(
                Databases.postgres(),
                "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ",
                "SELECT COUNT(*) FROM " + schema + ".holdfast_lock")) {
            for (int i = 0; i < 400; i++) {
                long base = take("hf-a:" + i);
                assertThat(table.release(link, key, base, "hf-a:" + i).done()).isTrue();
            }
            link.update("ANALYZE holdfast_lock");
            assertThat(pagesRead("holdfast_lock")).isLessThan(8);
            // So the count of pages shows dead rows where they are met.
            String byName = "by_name";
            link.update("CREATE TABLE " + byName + " AS SELECT * FROM holdfast_lock WHERE lock_key = ?", key);
            link.update("ALTER TABLE " + byName + " ADD PRIMARY KEY (lock_key)");
            for (int i = 0; i < 800; i++) {
                link.update(
                        "UPDATE " + byName + " SET base = base + 1, holder = ? WHERE lock_key = ?", "hf-a:" + i, key);
            }
            assertThat(pagesRead(byName)).isGreaterThan(8);
            link.update("DROP TABLE " + byName);
            report.rollback();
        }
    }

    /** Returns how many pages the server reads for the newest row. */
    private int pagesRead(String from) throws SQLException {
        String plan = String.join(
                "\n",
                link.query(
                        "EXPLAIN (ANALYZE, BUFFERS, COSTS OFF, TIMING OFF) SELECT " + table.columns() + " FROM " + from
                                + " WHERE lock_key = ? ORDER BY base DESC LIMIT 1",
                        row -> row.getString(1),
                        key));
        Matcher hits = Pattern.compile("shared hit=(\\d+)").matcher(plan);
        assertThat(hits.find()).as(plan).isTrue();
        return Integer.parseInt(hits.group(1));
    }

    @Test
    void aGrantOfAnotherServersStampHasNoDate() {
        Row here = new Row(1, 1, "hf-h:1", 0, 0, 0, "hf-a:1 1 z b 1 1 1 1;", "", 0, 0, 35, false);
        assertThat(Notes.text(granted(5), false, here)).isEqualTo("g name hf-a:1 7 0 3000 11 5");
        Row promoted = new Row(1, 1, "hf-h:1", 0, 0, 0, "hf-a:1 1 y b 1 1 1 1;", "", 0, 0, 35, false);
        assertThat(Notes.text(granted(5), true, promoted)).isEqualTo("G name hf-a:1 7 0 3000 -1 0");
    }

    /** A stamp ahead of the clock: the receiver counts the lease from its request, as if it were granted at once. */
    @Test
    void aGrantBeforeItsStampIsShorterByTheDifference() {
        Row row = new Row(1, 1, "hf-h:1", 0, 0, 0, "hf-a:1 1 z b 1 1 1 1;", "", 0, 0, 35, false);
        assertThat(Notes.text(granted(-20), false, row)).isEqualTo("g name hf-a:1 7 0 2980 11 0");
        assertThat(Notes.text(granted(-3_000), false, row)).isEqualTo("g name hf-a:1 7 0 3000 -1 0");
    }

    private long rows() throws SQLException {
        List<Long> rows =
                link.query("SELECT COUNT(*) FROM holdfast_lock WHERE lock_key = ?", row -> row.getLong(1), key);
        return rows.get(0);
    }

    private String shown(String setting) throws SQLException {
        return link.query("SHOW " + setting, row -> row.getString(1)).get(0);
    }
}
