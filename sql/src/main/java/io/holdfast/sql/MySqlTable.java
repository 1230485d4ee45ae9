package io.holdfast.sql;

import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The statements for MySQL and MariaDB. The key is that of the name alone: InnoDB changes a row in place, so an old
 * snapshot costs nothing.
 *
 * <p>An update that had to wait for the row looks at it again, and its clock is that of the statement's start. So a wait
 * can only shorten a hold. No assignment reads a column that another one writes: both databases assign from left to
 * right, and later ones would see the new value.
 */
final class MySqlTable extends NameKeyTable {

    /** So many holds are renewed by one statement, whose text grows with them. */
    private static final int RENEWED_TOGETHER = 100;

    private static final long CLOCK_NANOS = TimeUnit.SECONDS.toNanos(10);

    private static final String EPOCH = "TIMESTAMP'1970-01-01 00:00:00.000000'";

    /**
     * By a hash, since the names of servers are texts. Servers that replicate each other have different ids, and so
     * different hashes but for one case in 4 billion. A replica computes none: with READ COMMITTED it receives rows.
     */
    private static final String MARK = "CRC32(CONCAT(@@hostname, ':', @@port, ':', @@server_id))";

    private final String take = "UPDATE holdfast_lock SET base = LAST_INSERT_ID(GREATEST(base + 1, " + ticks()
            + ")), holder = ?, ends = " + later("?") + ", lease = ?, settings = 0, contended = 0,"
            + " version = version + 1 WHERE lock_key = ? AND queue = '' AND holders = '' AND ends <= " + now() + " AND "
            + now() + " <= " + instant();

    /** A renewal as a row of a table. Its key has the collation of the column, or the index would be of no use. */
    private static final String RENEWAL = "SELECT CONVERT(? USING ascii) COLLATE ascii_bin AS k, ? AS b,"
            + " CONVERT(? USING utf8mb4) COLLATE utf8mb4_bin AS id, ? AS lease, ? AS seq";

    /**
     * Locks those rows that nobody else has locked, then changes them. The limit keeps the subselect apart from the
     * update: otherwise a row that is locked would hold up all others.
     */
    private final String renewBegin = "UPDATE (SELECT h.lock_key AS k, r.lease AS lease, r.seq AS seq FROM (" + RENEWAL;

    private final String renewEnd = ") r STRAIGHT_JOIN holdfast_lock h FORCE INDEX (PRIMARY) ON h.lock_key = r.k"
            + " WHERE h.base = r.b AND h.holder = r.id AND h.settings <= r.seq AND h.ends > " + now() + " LIMIT "
            + RENEWED_TOGETHER + " FOR UPDATE SKIP LOCKED) l STRAIGHT_JOIN holdfast_lock h FORCE INDEX (PRIMARY)"
            + " ON h.lock_key = l.k SET h.ends = GREATEST(h.ends, " + later("l.lease")
            + "), h.settings = GREATEST(h.settings, l.seq), h.version = h.version + 1";

    MySqlTable() {
        super("UTC_TIMESTAMP(6)", "TIMESTAMPADD(MICROSECOND, ?, " + EPOCH + ")", MARK);
    }

    @Override
    String micros(String instant) {
        return microsOf(instant);
    }

    static String microsOf(String instant) {
        return "TIMESTAMPDIFF(MICROSECOND, " + EPOCH + ", " + instant + ")";
    }

    /** Returns the expression of the instant that is so many milliseconds ahead. */
    private String later(String millis) {
        return "TIMESTAMPADD(MICROSECOND, " + millis + " * 1000, " + now() + ")";
    }

    @Override
    String ticks() {
        String since = "TIMESTAMPDIFF(MICROSECOND, TIMESTAMP'2020-01-01 00:00:00.000000', " + now() + ")";
        return "((" + since + " DIV 1000000) * 262144 + ((" + since + " MOD 1000000) * 262144) DIV 1000000)";
    }

    @Override
    @Nullable
    Taken take(Link link, String key, String holderId, long leaseMillis) throws SQLException {
        // Unlike on other databases, the answer to a take that succeeds does not tell the time.
        if (link.sinceClockNanos() > CLOCK_NANOS) {
            readClock(link);
        }
        long base = link.updateNaming(take, holderId, leaseMillis, leaseMillis, key, link.notAfterMicros());
        if (base != 0) {
            return new Taken(base, null);
        }
        Row row = read(link, key);
        return row == null ? null : new Taken(0, row);
    }

    static void readClock(Link link) throws SQLException {
        long sent = link.nanoTime();
        Long micros = link.first("SELECT " + microsOf("UTC_TIMESTAMP(6)"), row -> row.getLong(1));
        link.clockWas(micros == null ? 0 : micros, sent);
    }

    @Override
    void make(Link link, String key, String shown, long version) throws SQLException {
        link.update(
                "INSERT INTO holdfast_lock (lock_key, base, holder, ends, settings, lease, queue, holders, contended,"
                        + " version, name) VALUES (?, 0, '', " + now() + ", 0, 0, '', '', 0, ?, ?)"
                        + " ON DUPLICATE KEY UPDATE version = version",
                key,
                version,
                shown);
    }

    @Override
    Map<String, Row> readAll(Link link, List<String> keys) throws SQLException {
        return byKey(
                link,
                "SELECT lock_key, " + columns() + " FROM holdfast_lock WHERE lock_key IN (?"
                        + ", ?".repeat(keys.size() - 1) + ")",
                keys.toArray());
    }

    @Override
    List<Renewed> renew(Link link, List<Renewal> renewals) throws SQLException {
        List<Renewed> all = new ArrayList<>();
        for (int from = 0; from < renewals.size(); from += RENEWED_TOGETHER) {
            renewSome(link, renewals.subList(from, Math.min(renewals.size(), from + RENEWED_TOGETHER)), all);
        }
        return all;
    }

    /**
     * Changes the rows, then reads them: an update does not tell which ones it has changed. A row counts as renewed if it
     * has the number of the renewal and an end at least a lease after the sending. Who wrote them does not matter.
     */
    private void renewSome(Link link, List<Renewal> renewals, List<Renewed> renewed) throws SQLException {
        List<Object> parameters = new ArrayList<>();
        for (Renewal each : renewals) {
            parameters.addAll(List.of(each.key(), each.base(), each.holderId(), each.leaseMillis(), each.sequence()));
        }
        long sent = link.nanoTime();
        link.update(
                renewBegin + " UNION ALL SELECT ?, ?, ?, ?, ?".repeat(renewals.size() - 1) + renewEnd,
                parameters.toArray());
        Map<String, Row> rows =
                readAll(link, renewals.stream().map(Renewal::key).distinct().toList());
        long passedMicros = (link.nanoTime() - sent) / 1_000;
        for (Renewal each : renewals) {
            Row row = rows.get(each.key());
            if (row != null
                    && row.base() == each.base()
                    && row.isHeldBy(each.holderId())
                    && row.settings() == each.sequence()
                    && row.endMicros() >= row.nowMicros() - passedMicros + each.leaseMillis() * 1_000) {
                renewed.add(new Renewed(each.key(), each.holderId(), row.queue(), row.nowMicros()));
            }
        }
    }

    /** Each row is judged by itself, again under its lock: a take may have been committed since the first look. */
    @Override
    void purge(Link link, String from, String to) throws SQLException {
        String unused = " ends < TIMESTAMPADD(DAY, -1, " + now() + ") AND base <= " + ticks();
        List<String> keys = link.query(
                "SELECT lock_key FROM holdfast_lock WHERE lock_key >= ? AND lock_key < ? AND" + unused,
                row -> row.getString(1),
                from,
                to);
        for (String key : keys) {
            link.update("DELETE FROM holdfast_lock WHERE lock_key = ? AND" + unused, key);
        }
    }
}
