package io.holdfast.sql;

import static java.util.stream.Collectors.joining;

import io.holdfast.record.NameMessage;
import io.holdfast.record.NameRecord.Entry;
import java.sql.SQLException;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The statements for PostgreSQL. The base is part of the table's key, so a hot lock does not meet the dead
 * versions of its earlier holds. Another transaction's snapshot may keep those for hours.
 *
 * <p>Its price: a make that comes late leaves a second row of a name. Four rules keep that harmless: a version is never
 * met twice; nothing is written to a row that was not read as the newest; a purge judges each row by itself, again
 * under its lock; and only a row that is named by its base is ever skipped because it is locked.
 */
final class PostgresTable extends LockTable {

    private static final String NEWEST =
            "(SELECT base FROM holdfast_lock WHERE lock_key = ? ORDER BY base DESC LIMIT 1)";

    private static final String IDLE = "set_config('idle_in_transaction_session_timeout', '2000', true)";

    private final boolean notify;

    private static final String STARTED = "pg_postmaster_start_time()";

    /**
     * A row as of the beginning of its transaction, which is this one read. A read shows what was there when it began, and
     * may have been held up since: a later date would take a hold for over that was renewed meanwhile. Not as of {@code
     * statement_timestamp()}: the driver asks for the rows by a message of its own, which sets that anew.
     */
    private final String columns = columns("now()", micros(STARTED));

    /**
     * What follows a change of the table w: the row as it is, if nothing was changed. Its parameter is the key. The
     * statement sees what was there when it began, and may have been held up since. So the row is as of that instant: a
     * later one would take a hold for over that was renewed meanwhile.
     */
    private final String orFound = " UNION ALL (SELECT false, " + columns("statement_timestamp()", micros(STARTED))
            + " FROM holdfast_lock WHERE lock_key = ? AND NOT EXISTS (SELECT 1 FROM w) ORDER BY base DESC LIMIT 1)";

    /** Returns the change by which a hold begins, of the rows l, which are locked. */
    private String begins(String holder, String lease) {
        return "UPDATE holdfast_lock h SET base = GREATEST(h.base + 1, " + ticks() + "), holder = " + holder
                + ", ends = clock_timestamp() + " + lease + " * INTERVAL '1 millisecond', lease = " + lease
                + ", settings = 0, contended = 0, version = h.version + 1 FROM l WHERE h.lock_key = l.lock_key AND"
                + " h.base = l.base";
    }

    private final String take = "WITH l AS (SELECT lock_key, base FROM holdfast_lock WHERE lock_key = ? AND base = "
            + NEWEST
            + " AND queue = '' AND holders = '' AND ends <= clock_timestamp() AND clock_timestamp() <= " + instant()
            + " FOR UPDATE SKIP LOCKED), w AS (" + begins("?", "?") + " RETURNING h.base) " + done("base", "")
            + orFound;

    /** The same for several names, for those that are free. */
    private final String takeAll = "WITH l AS (SELECT h.lock_key, h.base, r.id, r.lease, r.i FROM "
            + unnest("TEXT", "TEXT", "BIGINT")
            + " WITH ORDINALITY AS r(k, id, lease, i) JOIN holdfast_lock h ON h.lock_key = r.k AND h.base = "
            + NEWEST.replace("?", "r.k")
            + " WHERE h.queue = '' AND h.holders = '' AND h.ends <= clock_timestamp() AND clock_timestamp() <= "
            + instant() + " FOR UPDATE OF h SKIP LOCKED) " + begins("l.id", "l.lease") + " RETURNING l.i, h.base, "
            + micros("clock_timestamp()");

    private final String readAll = "SELECT k.k, r.* FROM " + unnest("TEXT") + " AS k(k) CROSS JOIN LATERAL (SELECT "
            + columns + " FROM holdfast_lock WHERE lock_key = k.k ORDER BY base DESC LIMIT 1) r";

    private final String readLocked = "SELECT " + IDLE + ", l.* FROM (SELECT " + columns(micros(STARTED))
            + " FROM holdfast_lock WHERE lock_key = ? ORDER BY base DESC LIMIT 1 FOR NO KEY UPDATE) l";

    /**
     * Locks the row that was read with this base, whatever its base is now, and waits for those who are changing it. So
     * the statement knows the row as it is, and not only as it was when the statement began. Passes a guard. Its
     * parameters are the key and the base.
     */
    private final String locked = "WITH l(base, version, holder, ends, settings, lease, queue, holders, contended, now,"
            + " mark) AS (SELECT " + columns(micros(STARTED))
            + " FROM holdfast_lock WHERE lock_key = ? AND base >= ? ORDER BY base DESC LIMIT 1 FOR NO KEY UPDATE), ";

    /**
     * What follows a change of the table w by a statement that begins with {@link #locked}: the row as it is, if nothing
     * was changed.
     */
    private static final String OR_LOCKED = " UNION ALL SELECT false, l.* FROM l WHERE NOT EXISTS (SELECT 1 FROM w)";

    private static final String UNSYNCED = "set_config('synchronous_commit', 'off', true)";

    private final String values = " holder = ?, ends = " + instant()
            + ", settings = ?, lease = ?, queue = ?, holders = ?, contended = ?, version = h.version + 1 FROM ";

    private final String asRead = " WHERE h.lock_key = ? AND h.base = ? AND h.version = ? AND h.base = l.base AND"
            + " clock_timestamp() <= " + instant() + " AND l.mark = ?";

    /**
     * A statement that writes the row, and answers as the take does.
     *
     * @param telling the same, which also sends messages with its commit, if the row was written
     */
    private record Writing(String silent, String telling) {}

    private Writing writing(String change) {
        return new Writing(
                change + done("0::BIGINT", "") + OR_LOCKED,
                change
                        + done(
                                "0::BIGINT",
                                "CASE WHEN " + Notes.HAVE_ROOM + " THEN pg_notify(m.c, m.p)::TEXT ELSE '' END")
                        + " CROSS JOIN " + unnest("TEXT", "TEXT") + " AS m(c, p)" + OR_LOCKED);
    }

    private final Writing sameBase =
            writing(locked + "w AS (UPDATE holdfast_lock h SET" + values + "l" + asRead + " RETURNING 1 AS one)");

    /** The base is part of the key, so a guard that has locked the key keeps it. Passes by: nothing waits for a guard. */
    private final Writing newBase = writing(locked
            + "g AS (SELECT h.lock_key, h.base FROM holdfast_lock h CROSS JOIN l" + asRead
            + " FOR UPDATE OF h SKIP LOCKED), w AS (UPDATE holdfast_lock h SET base = ?," + values
            + "g WHERE h.lock_key = g.lock_key AND h.base = g.base RETURNING 1 AS one)");

    /** An update that has waited for the row looks again at what it asks for, and so finds a base that has grown. */
    private final String append =
            "UPDATE holdfast_lock SET queue = queue || ?, version = version + 1 WHERE lock_key = ?"
                    + " AND base >= ? AND queue <> '' AND strpos(queue, ?) = 0 AND holder <> '' AND holder <> ? AND ends >"
                    + " clock_timestamp() AND clock_timestamp() <= " + instant() + " RETURNING "
                    + columns(micros(STARTED));

    private final String release = locked + "w AS (UPDATE holdfast_lock h SET holder = '', ends = clock_timestamp(),"
            + " version = h.version + 1 FROM l WHERE h.lock_key = ? AND h.base = ? AND h.base = l.base AND h.holder = ?"
            + " AND h.queue = '' AND h.ends > clock_timestamp() RETURNING " + UNSYNCED + " AS sync)"
            + done("0::BIGINT", "w.sync")
            + OR_LOCKED.replace(
                    "l.*",
                    "l.base, l.version, l.holder || left(" + UNSYNCED + ", 0), l.ends, l.settings, l.lease, l.queue,"
                            + " l.holders, l.contended, l.now, l.mark");

    /** The same for several holds, of those rows that nobody else is changing. */
    private final String releaseAll = "WITH l AS (SELECT h.lock_key, h.base, r.i FROM holdfast_lock h JOIN "
            + unnest("TEXT", "BIGINT", "TEXT")
            + " WITH ORDINALITY AS r(k, b, id, i) ON h.lock_key = r.k AND h.base = r.b"
            + " WHERE h.holder = r.id AND h.queue = '' AND h.ends > clock_timestamp()"
            + " FOR NO KEY UPDATE OF h SKIP LOCKED) UPDATE holdfast_lock h SET holder = '', ends = clock_timestamp(), version = h.version + 1 FROM l WHERE h.lock_key = l.lock_key"
            + " AND h.base = l.base RETURNING l.i, " + UNSYNCED;

    private final String renew = "WITH l AS (SELECT h.lock_key, h.base, r.id, r.lease, r.seq FROM holdfast_lock h"
            + " JOIN " + unnest("TEXT", "BIGINT", "TEXT", "BIGINT", "BIGINT")
            + " AS r(k, b, id, lease, seq) ON h.lock_key = r.k AND h.base = r.b"
            + " WHERE h.holder = r.id AND h.settings <= r.seq AND h.ends > clock_timestamp()"
            + " FOR NO KEY UPDATE OF h SKIP LOCKED) UPDATE holdfast_lock h SET ends = GREATEST(h.ends,"
            + " clock_timestamp() + l.lease * INTERVAL '1 millisecond'), settings = GREATEST(h.settings, l.seq),"
            + " version = h.version + 1 FROM l WHERE h.lock_key = l.lock_key AND h.base = l.base"
            + " RETURNING h.lock_key, h.holder, h.queue, " + micros("clock_timestamp()");

    /**
     * Returns a table whose columns are the arrays that are given as parameters. It names their types, which the driver
     * leaves out in its simple query mode.
     */
    static String unnest(String... types) {
        return Stream.of(types).map(type -> "?::" + type + "[]").collect(joining(", ", "unnest(", ")"));
    }

    PostgresTable(boolean notify) {
        this.notify = notify;
    }

    /**
     * Returns the answer of a change that has been made: true, and values in the place of a row.
     *
     * @param text an expression that is evaluated for it; empty for none
     */
    private String done(String base, String text) {
        String now = micros("clock_timestamp()");
        return " SELECT true AS done, " + base + ", 0::BIGINT, " + (text.isEmpty() ? "''" : text) + ", " + now
                + ", 0::BIGINT, 0::BIGINT, '', '', 0::BIGINT, " + now + ", 0::BIGINT FROM w";
    }

    @Override
    String columns() {
        return columns;
    }

    @Override
    String instant() {
        return "TIMESTAMPTZ 'epoch' + ? * INTERVAL '1 microsecond'";
    }

    @Override
    String now() {
        return "clock_timestamp()";
    }

    @Override
    @Nullable
    Taken take(Link link, String key, String holderId, long leaseMillis) throws SQLException {
        Written answer = changed(link, take, key, key, link.notAfterMicros(), holderId, leaseMillis, leaseMillis, key);
        Row row = answer.found();
        return row == null ? null : new Taken(answer.done() ? row.base() : 0, row);
    }

    @Override
    Map<Wanted, Long> takeAll(Link link, List<Wanted> wanted) throws SQLException {
        long sent = link.nanoTime();
        Map<Wanted, Long> bases = new HashMap<>();
        link.query(
                takeAll,
                result -> {
                    link.clockWas(result.getLong(3), sent);
                    return bases.put(wanted.get(result.getInt(1) - 1), result.getLong(2));
                },
                texts(wanted, Wanted::key),
                texts(wanted, Wanted::holderId),
                numbers(wanted, Wanted::leaseMillis),
                link.notAfterMicros());
        return bases;
    }

    /** Runs a statement that ends with {@link #orFound}. Also a change that was made is answered by a row. */
    private static Written changed(Link link, String sql, Object... parameters) throws SQLException {
        long sent = link.nanoTime();
        Written answer = link.first(sql, result -> new Written(result.getBoolean(1), row(result, 2)), parameters);
        if (answer == null) {
            return Written.UNTOLD;
        }
        noted(link, answer.found(), sent);
        return answer;
    }

    /**
     * Adds a random number of its own to the version: a statement that something on the way executes twice must not make
     * two rows that a write cannot tell apart.
     */
    @Override
    void make(Link link, String key, String shown, long version) throws SQLException {
        link.update(
                "INSERT INTO holdfast_lock (lock_key, base, holder, ends, settings, lease, queue, holders, contended,"
                        + " version, name) VALUES (?, 0, '', clock_timestamp(), 0, 0, '', '', 0,"
                        + " ? + FLOOR(random() * 9007199254740992)::BIGINT, ?)"
                        + " ON CONFLICT DO NOTHING",
                key,
                version,
                shown);
    }

    @Override
    Map<String, Row> readAll(Link link, List<String> keys) throws SQLException {
        return byKey(link, readAll, (Object) keys.toArray(String[]::new));
    }

    @Override
    @Nullable
    Row readLocked(Link link, String key) throws SQLException {
        return link.first(readLocked, result -> row(result, 2), key);
    }

    @Override
    Written write(Link link, String key, Row before, Row.Change after, List<NameMessage> messages, boolean pool)
            throws SQLException {
        long notAfter = before.notAfterMicros();
        List<NameMessage> sent = notify ? messages : List.of();
        Object[] values = {
            after.holder(),
            after.endMicros(),
            after.settings(),
            after.leaseMillis(),
            after.queue(),
            after.holders(),
            after.contended()
        };
        Object[] row = {key, before.base()};
        Object[] which = {key, before.base(), before.version(), notAfter, before.mark()};
        boolean same = after.base() == before.base();
        Writing writing = same ? sameBase : newBase;
        Object[] last = {};
        if (!sent.isEmpty()) {
            String[] channels = sent.stream()
                    .map(message -> Notes.channel(message.client()))
                    .toArray(String[]::new);
            String[] notes = sent.stream()
                    .map(message -> Notes.text(message, pool, before))
                    .toArray(String[]::new);
            last = new Object[] {channels, notes};
        }
        Object[] parameters =
                same ? joined(row, values, which, last) : joined(row, which, new Object[] {after.base()}, values, last);
        return changed(link, sent.isEmpty() ? writing.silent() : writing.telling(), parameters);
    }

    @Override
    @Nullable
    Row append(Link link, String key, Row before, Entry entry) throws SQLException {
        long sent = link.nanoTime();
        String id = entry.holderId();
        Row row = link.first(
                append,
                result -> row(result, 1),
                QueueText.text(entry, before.mark()),
                key,
                before.base(),
                QueueText.word(id) + ' ',
                id,
                before.notAfterMicros());
        return noted(link, row, sent);
    }

    private static Object[] joined(Object[]... parts) {
        return Stream.of(parts).flatMap(Arrays::stream).toArray();
    }

    /**
     * Does not wait for the disk, whether it ends the hold or only locks the row. A release that a crash forgets is a
     * hold that lasts to its end; and the log is written in order, so no later take is kept without it.
     */
    @Override
    Written release(Link link, String key, long base, String holderId) throws SQLException {
        return changed(link, release, key, base, key, base, holderId);
    }

    @Override
    Set<Holds.Held> releaseAll(Link link, List<Holds.Held> holds) throws SQLException {
        return new HashSet<>(link.query(
                releaseAll,
                result -> holds.get(result.getInt(1) - 1),
                texts(holds, Holds.Held::key),
                numbers(holds, Holds.Held::base),
                texts(holds, Holds.Held::holderId)));
    }

    @Override
    List<Renewed> renew(Link link, List<Renewal> renewals) throws SQLException {
        return link.query(
                renew,
                result -> new Renewed(result.getString(1), result.getString(2), result.getString(3), result.getLong(4)),
                texts(renewals, Renewal::key),
                numbers(renewals, Renewal::base),
                texts(renewals, Renewal::holderId),
                numbers(renewals, Renewal::leaseMillis),
                numbers(renewals, Renewal::sequence));
    }

    /** PostgreSQL shows no row locks. A lock that a renewal passes, and a new hold does not, is that of a guard. */
    @Override
    boolean isGuarded(Link link, String key, long base) throws SQLException {
        Boolean guarded = link.first(
                "WITH n AS (SELECT 1 FROM holdfast_lock WHERE lock_key = ? AND base = ? FOR NO KEY UPDATE SKIP LOCKED),"
                        + " u AS (SELECT 1 FROM holdfast_lock WHERE lock_key = ? AND base = ? FOR UPDATE SKIP LOCKED)"
                        + " SELECT (SELECT count(*) FROM n) > (SELECT count(*) FROM u)",
                result -> result.getBoolean(1),
                key,
                base,
                key,
                base);
        return Boolean.TRUE.equals(guarded);
    }

    private static <T> Object texts(List<T> all, Function<T, String> part) {
        return all.stream().map(part).toArray(String[]::new);
    }

    private static <T> Object numbers(List<T> all, Function<T, Long> part) {
        return all.stream().map(part).toArray(Long[]::new);
    }

    /** Each row is judged again under its lock: a take may have been committed since the subselect looked. */
    @Override
    void purge(Link link, String from, String to) throws SQLException {
        link.update(
                "DELETE FROM holdfast_lock t USING (SELECT lock_key, base FROM holdfast_lock WHERE lock_key >= ? AND"
                        + " lock_key < ? AND ends < clock_timestamp() - INTERVAL '1 day' AND base <= " + ticks()
                        + " FOR UPDATE SKIP LOCKED) p WHERE t.lock_key = p.lock_key AND t.base = p.base AND t.ends <"
                        + " clock_timestamp() - INTERVAL '1 day'",
                from,
                to);
    }
}
