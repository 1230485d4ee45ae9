package io.holdfast.sql;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.record.NameMessage;
import io.holdfast.spi.AcquireRequest;
import io.holdfast.spi.PushedGrant;
import java.net.URI;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Schedules of single statements that broke a draft of the store, each on real servers. */
abstract class TableTest {

    private static final long HOUR_MICROS = 3_600_000_000L;

    final String key = LockKey.of("table:" + UUID.randomUUID());
    Link link;
    LockTable table;

    abstract String url();

    abstract LockTable table();

    @BeforeEach
    void connect() {
        link = connected(url());
        table = table();
    }

    /** Returns a connection to that database, which has the tables then. */
    static Link connected(String url) {
        SqlSettings settings = SqlSettings.parse(URI.create(url));
        Link connected = Databases.connect(url);
        SqlSchema.check(connected, settings, new SqlErrors(settings));
        return connected;
    }

    @AfterEach
    void disconnect() {
        link.close();
    }

    @Test
    void aTakeNeedsARow() throws SQLException {
        assertThat(table.take(link, key, "hf-a:1", 30_000)).isNull();
        table.make(link, key, "name", 5);
        long version = read().version();
        table.make(link, key, "name", 6);
        assertThat(read().version()).isEqualTo(version).isGreaterThanOrEqualTo(5);
        assertThat(take("hf-a:1")).isPositive();
        assertThat(read().holder()).isEqualTo("hf-a:1");
        assertThat(requireNonNull(table.take(link, key, "hf-b:1", 30_000)).base())
                .isZero();
    }

    /** Two holders, if each row began with the same version. */
    @Test
    void aWriteForAMadeRowMissesTheRowThatAnotherClientMade() throws SQLException {
        table.make(link, key, "name", 5);
        Row read = read();
        long base = take("hf-b:1");
        // A make that comes late: on PostgreSQL a second row, which is older and so no lock.
        table.make(link, key, "name", 77);
        assertThat(write(read, hold(read, "hf-c:1"))).isFalse();
        assertThat(read().holder()).isEqualTo("hf-b:1");
        assertThat(read().base()).isEqualTo(base);
        assertThat(requireNonNull(table.take(link, key, "hf-d:1", 30_000)).base())
                .isZero();
    }

    @Test
    void aWriteIsRefusedIfTheRowHasChangedSince() throws SQLException {
        table.make(link, key, "name", 5);
        Row read = read();
        assertThat(write(read, hold(read, "hf-a:1"))).isTrue();
        assertThat(write(read, hold(read, "hf-b:1"))).isFalse();
        assertThat(read().holder()).isEqualTo("hf-a:1");
    }

    @Test
    void aTakeThatComesLateTakesNothing() throws SQLException {
        table.make(link, key, "name", 5);
        link.clockWas(read().nowMicros() - Link.LATE_MICROS - 1_000_000, link.nanoTime());
        assertThat(requireNonNull(table.take(link, key, "hf-a:1", 30_000)).base())
                .isZero();
        // Its answer has told the database's time.
        assertThat(take("hf-a:1")).isPositive();
    }

    /** A proxy may have another server by then, whose clock is another one. */
    @Test
    void aRowThatAnotherServerHasToldIsNotWritten() throws SQLException {
        table.make(link, key, "name", 5);
        Row read = read();
        Row elsewhere = onServer(read, read.mark() + 1);
        assertThat(write(elsewhere, hold(elsewhere, "hf-a:1"))).isFalse();
        assertThat(write(elsewhere, ended(elsewhere, elsewhere.nowMicros()))).isFalse();
        assertThat(write(read, hold(read, "hf-a:1"))).isTrue();
    }

    /** The end is that of the decision, so a grant that is written late lasts no longer than it was promised. */
    @Test
    void aWriteThatComesLateGrantsNoMoreOrNothing() throws SQLException {
        table.make(link, key, "name", 5);
        Row now = read();
        Row early = at(now, now.nowMicros() - 2_000_000);
        assertThat(write(early, hold(early, "hf-a:1"))).isTrue();
        assertThat(read().endMicros()).isEqualTo(early.nowMicros() + 30_000_000);

        Row held = read();
        Row late = at(held, held.nowMicros() - Link.LATE_MICROS - 1_000_000);
        assertThat(write(late, hold(late, "hf-b:1"))).isFalse();
    }

    /** What is dated by an instant ahead of the clock must not be written after it. */
    @Test
    void aPresumedRowIsWrittenInTimeOrNotAtAll() throws SQLException {
        table.make(link, key, "name", 5);
        take("hf-a:1");
        Row held = read();
        Row late = held.presumedAt(held.nowMicros() - 1);
        assertThat(write(late, ended(late, late.nowMicros()))).isFalse();
        Row early = held.presumedAt(held.nowMicros() + 60_000_000);
        assertThat(write(early, ended(early, early.nowMicros()))).isTrue();
    }

    /** A row that this connection has left behind is known with all its values, and only for a moment. */
    @Test
    void aWrittenRowIsKnownAsItIs() throws SQLException {
        Commands commands = new Commands(table, new SqlErrors(SqlSettings.parse(URI.create(url()))), false, bound -> 4);
        String name = "known:" + UUID.randomUUID();
        AcquireRequest taking = AcquireRequest.queueing(name, "hf-a:1", 30_000, 5_000);
        requireNonNull(commands.decideMaking(link, name, decision -> decision.acquire(taking)));
        Row known = link.justWritten(commands.key(name));
        if (known != null) {
            Row read = requireNonNull(table.read(link, commands.key(name)));
            assertThat(known).isEqualTo(read.presumedAt(known.nowMicros()));
            assertThat(known.nowMicros()).isGreaterThan(read.endMicros() - 30_000_000);
        }
        assertThat(link.justWritten(commands.key(name))).isNull();
    }

    @Test
    void aRenewalUsesUpItsNumberAndLengthensOnly() throws SQLException {
        table.make(link, key, "name", 5);
        long base = take("hf-a:1");
        assertThat(renew(base, "hf-a:1", 60_000, 3)).hasSize(1);
        assertThat(read().settings()).isEqualTo(3);
        long end = read().endMicros();
        assertThat(renew(base, "hf-a:1", 1_000, 3)).hasSize(1);
        assertThat(read().endMicros()).isEqualTo(end);
        assertThat(renew(base, "hf-a:1", 90_000, 2)).isEmpty();
        assertThat(renew(base, "hf-b:1", 90_000, 3)).isEmpty();
        assertThat(renew(base - 1, "hf-a:1", 90_000, 3)).isEmpty();
    }

    @Test
    void aReleaseEndsOnlyTheHoldThatItNames() throws SQLException {
        table.make(link, key, "name", 5);
        long base = take("hf-a:1");
        assertThat(table.release(link, key, base, "hf-b:1").done()).isFalse();
        assertThat(table.release(link, key, base - 1, "hf-a:1").done()).isFalse();
        assertThat(table.release(link, key, base, "hf-a:1").done()).isTrue();
        assertThat(table.release(link, key, base, "hf-a:1").done()).isFalse();
        assertThat(take("hf-a:2")).isGreaterThan(base);
        assertThat(renew(base, "hf-a:1", 30_000, 0)).isEmpty();
    }

    @Test
    void anExpiredHoldIsNotRenewedOrReleased() throws SQLException {
        table.make(link, key, "name", 5);
        long base = take("hf-a:1");
        Row read = read();
        Row.Change over = new Row.Change(base, "hf-a:1", read.nowMicros() - 1, 0, 30_000, "", "", 0);
        assertThat(write(read, over)).isTrue();
        assertThat(renew(base, "hf-a:1", 30_000, 0)).isEmpty();
        assertThat(table.release(link, key, base, "hf-a:1").done()).isFalse();
        assertThat(take("hf-b:1")).isGreaterThan(base);
    }

    @Test
    void aPurgeLeavesWhatIsHeldOrWasUsedToday() throws SQLException {
        table.make(link, key, "name", 5);
        take("hf-a:1");
        purge();
        assertThat(read().holder()).isEqualTo("hf-a:1");

        Row read = read();
        assertThat(write(read, ended(read, read.nowMicros() - 23 * HOUR_MICROS)))
                .isTrue();
        purge();
        assertThat(table.read(link, key)).isNotNull();

        read = read();
        assertThat(write(read, ended(read, read.nowMicros() - 25 * HOUR_MICROS)))
                .isTrue();
        purge();
        assertThat(table.read(link, key)).isNull();
        // The base cannot go back: the clock makes it.
        table.make(link, key, "name", 9);
        assertThat(take("hf-a:2")).isGreaterThan(read.base());
    }

    @Test
    void theClockMakesTheBase() throws SQLException {
        table.make(link, key, "name", 5);
        long before = RowRecord.ticks(read().nowMicros());
        long base = take("hf-a:1");
        assertThat(base).isBetween(before, RowRecord.ticks(read().nowMicros()) + 1);
    }

    @Test
    void anInstantIsReadAsItWasWritten() throws SQLException {
        table.make(link, key, "name", 5);
        for (long micros : new long[] {1_900_000_000_123_457L, 4_000_000_000_999_999L}) {
            Row read = read();
            assertThat(write(read, ended(read, micros))).isTrue();
            assertThat(read().endMicros()).isEqualTo(micros);
        }
    }

    final void purge() throws SQLException {
        table.purge(link, key.substring(0, 3), key.substring(0, 3) + "g");
    }

    final Row read() throws SQLException {
        return requireNonNull(table.read(link, key));
    }

    final long take(String holderId) throws SQLException {
        return requireNonNull(table.take(link, key, holderId, 30_000)).base();
    }

    final List<LockTable.Renewed> renew(long base, String holderId, long leaseMillis, long sequence)
            throws SQLException {
        return table.renew(link, List.of(new LockTable.Renewal(key, base, holderId, leaseMillis, sequence)));
    }

    final boolean write(Row before, Row.Change after) throws SQLException {
        return table.write(link, key, before, after, List.of(), false).done();
    }

    static Row.Change hold(Row row, String holderId) {
        return new Row.Change(row.base() + 1, holderId, row.nowMicros() + 30_000_000, 0, 30_000, "", "", 0);
    }

    static Row.Change ended(Row row, long endMicros) {
        return new Row.Change(row.base(), "", endMicros, 0, 0, "", "", 0);
    }

    static Row at(Row row, long nowMicros) {
        return told(row, nowMicros, row.mark());
    }

    static Row onServer(Row row, long mark) {
        return told(row, row.nowMicros(), mark);
    }

    private static Row told(Row row, long nowMicros, long mark) {
        return new Row(
                row.base(),
                row.version(),
                row.holder(),
                row.endMicros(),
                row.settings(),
                row.leaseMillis(),
                row.queue(),
                row.holders(),
                row.contended(),
                nowMicros,
                mark,
                false);
    }

    static NameMessage granted(long since) {
        return new NameMessage.Granted(new PushedGrant("name", "hf-a:1", 7, 0, 3_000, 11, since, PushedGrant.ALWAYS));
    }

    /** Begins a transaction of somebody else's. */
    static Connection foreign(String url, String... statements) throws SQLException {
        Connection connection = DriverManager.getConnection(url);
        connection.setAutoCommit(false);
        try (Statement statement = connection.createStatement()) {
            for (String sql : statements) {
                statement.execute(sql);
            }
        }
        return connection;
    }
}
