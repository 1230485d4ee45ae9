package io.holdfast.sql;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

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
        assertThat(table.write(link, key, read, grant, List.of(), false)).isFalse();
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

    /** A session-level setting would reach other applications behind a pooler. */
    @Test
    void aReleaseLeavesNothingInTheSession() throws SQLException {
        table.make(link, key, "name", 5);
        assertThat(table.release(link, key, take("hf-a:1"), "hf-a:1")).isTrue();
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
            assertThat(table.release(link, key, base, "hf-a:1")).isTrue();
            assertThat(take("hf-b:1")).isZero();
            guard.commit();
        }
        assertThat(take("hf-b:1")).isGreaterThan(base);
    }

    /** With the name alone as key, a pair became 60 times slower while another transaction's snapshot was open. */
    @Test
    void deadRowsOfEarlierHoldsAreNeverMet() throws SQLException {
        table.make(link, key, "name", 5);
        try (Connection report = foreign(
                Databases.postgres(),
                "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ",
                "SELECT COUNT(*) FROM holdfast_lock")) {
            for (int i = 0; i < 400; i++) {
                long base = take("hf-a:" + i);
                assertThat(table.release(link, key, base, "hf-a:" + i)).isTrue();
            }
            assertThat(pagesRead("holdfast_lock")).isLessThan(8);
            // So the count of pages shows dead rows where they are met.
            String byName = "by_name_" + key.substring(0, 9);
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
        Row here = new Row(1, 1, "hf-h:1", 0, 0, 0, "hf-a:1 1 z b 1 1 1 1;", "", 0, 0, 35);
        assertThat(Notes.text(granted(5), false, here)).isEqualTo("g name hf-a:1 7 0 3000 11 5");
        Row promoted = new Row(1, 1, "hf-h:1", 0, 0, 0, "hf-a:1 1 y b 1 1 1 1;", "", 0, 0, 35);
        assertThat(Notes.text(granted(5), true, promoted)).isEqualTo("G name hf-a:1 7 0 3000 -1 0");
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
