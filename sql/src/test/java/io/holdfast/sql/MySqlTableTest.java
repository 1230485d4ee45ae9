package io.holdfast.sql;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("deep")
class MySqlTableTest extends TableTest {

    @Override
    String url() {
        return Databases.url(SqlSettings.Kind.MYSQL);
    }

    @Override
    LockTable table() {
        return new MySqlTable();
    }

    /** One locked row made the renewals of all others fail, again and again. */
    @Test
    void aLockedRowDelaysNoOtherRenewal() throws SQLException {
        List<LockTable.Renewal> renewals = new ArrayList<>();
        for (int i = 0; i < 250; i++) {
            String each = LockKey.of(key + i);
            table.make(link, each, "name", 5);
            LockTable.Taken taken = table.take(link, each, "hf-a:" + i, 30_000);
            assertThat(taken).isNotNull();
            renewals.add(new LockTable.Renewal(each, taken.base(), "hf-a:" + i, 60_000, 0));
        }
        try (Connection other = foreign(url(), lock(renewals.get(120).key()))) {
            List<LockTable.Renewed> renewed = table.renew(link, renewals);
            assertThat(renewed)
                    .hasSize(249)
                    .extracting(LockTable.Renewed::key)
                    .doesNotContain(renewals.get(120).key());
            other.rollback();
        }
        assertThat(table.renew(link, renewals)).hasSize(250);
    }

    /** The base of a take is what the driver calls a generated key; the other columns must not take part in that. */
    @Test
    void aTakeAnswersTheBaseThatIsInTheRow() throws SQLException {
        table.make(link, key, "name", 5);
        for (int i = 0; i < 5; i++) {
            long base = take("hf-a:" + i);
            assertThat(read().base()).isEqualTo(base);
            assertThat(read().holder()).isEqualTo("hf-a:" + i);
            assertThat(read().settings()).isZero();
            assertThat(table.release(link, key, base, "hf-a:" + i).done()).isTrue();
        }
    }

    /** The answer to a take does not tell the time, so a client that only takes would believe an old one. */
    @Test
    void anOldClockIsReadAgainBeforeATake() throws SQLException {
        table.make(link, key, "name", 5);
        link.clockWas(read().nowMicros() - 20_000_000, link.nanoTime() - TimeUnit.SECONDS.toNanos(11));
        assertThat(take("hf-a:1")).isPositive();
    }

    /** A purge that waits for the take judges the row again. */
    @Test
    void aPurgeLeavesARowThatIsBeingTaken() throws Exception {
        table.make(link, key, "name", 5);
        Row read = read();
        assertThat(write(read, ended(read, read.nowMicros() - TimeUnit.DAYS.toMicros(3))))
                .isTrue();
        try (Connection taker = foreign(
                url(),
                "UPDATE holdfast_lock SET holder = 'hf-b:1', ends = UTC_TIMESTAMP(6) + INTERVAL 1 MINUTE, base = 9,"
                        + " version = version + 1 WHERE lock_key = '" + key + "'")) {
            CompletableFuture<Void> purged = CompletableFuture.runAsync(() -> {
                try {
                    purge();
                } catch (SQLException e) {
                    // A busy machine: the wait for the row was too long.
                    assertThat(e.getErrorCode()).isEqualTo(1205);
                }
            });
            TimeUnit.MILLISECONDS.sleep(300);
            taker.commit();
            purged.get(20, TimeUnit.SECONDS);
        }
        assertThat(read().holder()).isEqualTo("hf-b:1");
    }

    @Test
    void nothingWaitsLongForALockedRow() throws SQLException {
        table.make(link, key, "name", 5);
        try (Connection other = foreign(url(), lock(key))) {
            assertThatThrownBy(() -> table.take(link, key, "hf-a:1", 30_000))
                    .isInstanceOfSatisfying(
                            SQLException.class,
                            e -> assertThat(e.getErrorCode()).isEqualTo(1205));
            other.rollback();
        }
        assertThat(take("hf-a:1")).isPositive();
    }

    /** Otherwise the row would be locked for eight hours. */
    @Test
    void aStoppedClientKeepsNoRowLocked() throws Exception {
        table.make(link, key, "name", 5);
        assertThatThrownBy(() -> link.together(() -> {
                    Row locked = table.readLocked(link, key);
                    assertThat(locked).isNotNull();
                    sleep(6);
                    return table.write(link, key, locked, hold(locked, "hf-a:1"), List.of(), false);
                }))
                .isInstanceOf(SQLException.class);
        connect();
        assertThat(take("hf-b:1")).isPositive();
    }

    @Test
    void aTransactionLeavesTheSessionAsItWas() throws SQLException {
        table.make(link, key, "name", 5);
        String before = variable("wait_timeout");
        link.together(() -> table.readLocked(link, key));
        assertThat(variable("wait_timeout")).isEqualTo(before);
        assertThat(Integer.parseInt(before)).isGreaterThan(2);
        assertThat(variable("autocommit")).isEqualTo("ON");
        assertThat(variable("innodb_lock_wait_timeout")).isEqualTo("1");
        assertThat(variable("lock_wait_timeout")).isEqualTo("1");
        assertThat(link.connection().getTransactionIsolation()).isEqualTo(Connection.TRANSACTION_READ_COMMITTED);
    }

    private static String lock(String key) {
        return "SELECT 1 FROM holdfast_lock WHERE lock_key = '" + key + "' FOR UPDATE";
    }

    private String variable(String name) throws SQLException {
        return link.query("SHOW SESSION VARIABLES LIKE '" + name + "'", row -> row.getString(2))
                .get(0);
    }

    private static void sleep(int seconds) {
        try {
            TimeUnit.SECONDS.sleep(seconds);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
