package io.holdfast.sql;

import static java.util.stream.Collectors.toMap;

import io.holdfast.record.NameMessage;
import io.holdfast.record.NameRecord.Entry;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The statements on the table of locks, for one kind of database. All read the database's clock in the statement. */
abstract class LockTable {

    static final String TABLE = "holdfast_lock";

    /** A renewal that only lengthens, of a hold whose base is known. */
    record Renewal(String key, long base, String holderId, long leaseMillis, long sequence) {}

    /** A hold that was renewed, with the queue behind it. */
    record Renewed(String key, String holderId, String queue, long nowMicros) {}

    /** A free lock that is wanted. */
    record Wanted(String key, String holderId, long leaseMillis) {}

    /**
     * What a take has found.
     *
     * @param base of the new hold; 0 if nothing was taken
     * @param row the row, if nothing was taken
     */
    record Taken(long base, @Nullable Row row) {}

    /**
     * What a write has done.
     *
     * @param found the row as it is instead, if nothing was written and the statement has told. It saves a read
     */
    record Written(boolean done, @Nullable Row found) {

        static final Written DONE = new Written(true, null);

        /** Nothing was written, and only a read tells why. */
        static final Written UNTOLD = new Written(false, null);

        static Written of(boolean done) {
            return done ? DONE : UNTOLD;
        }
    }

    /** Returns the columns of a {@link Row}, in the order of its components. */
    abstract String columns();

    /** Returns the expression of an instant that is given in microseconds since 1970. */
    abstract String instant();

    /** Returns the expression of the database's clock at this very moment, or a little earlier. */
    abstract String now();

    /** Takes a lock that is free and that nobody waits for. Returns null if there is no row. */
    abstract @Nullable Taken take(Link link, String key, String holderId, long leaseMillis) throws SQLException;

    /** Takes those of some locks that it can take by one statement. Returns the bases of the new holds. */
    Map<Wanted, Long> takeAll(Link link, List<Wanted> wanted) throws SQLException {
        return Map.of();
    }

    /** Makes the row of a name, for a free lock, unless there is one. Nothing may be written to it before it is read. */
    abstract void make(Link link, String key, String shown, long version) throws SQLException;

    /** Returns the rows of some keys, by the key. */
    abstract Map<String, Row> readAll(Link link, List<String> keys) throws SQLException;

    /** Returns the row, which nobody else can change before the transaction ends. */
    abstract @Nullable Row readLocked(Link link, String key) throws SQLException;

    /**
     * Writes a row if it has still the version that was read, on the server that was read, and is not late. A proxy may
     * send a write to another server than the read: that one has another clock, and may have given the same version to
     * another change.
     *
     * @param messages sent with the commit, if this database can
     */
    abstract Written write(
            Link link, String key, Row before, Row.Change after, List<NameMessage> messages, boolean pool)
            throws SQLException;

    /**
     * Adds an entry to the end of a queue in which others wait behind a hold, whatever has become of both since the row
     * was read. So a client that is far away need not be faster than all near ones.
     *
     * @param entry of an id that neither holds nor waits
     * @return the row with the entry; null if it was not added
     */
    @Nullable
    Row append(Link link, String key, Row before, Entry entry) throws SQLException {
        return null;
    }

    /** Ends a hold that nobody waits behind. */
    abstract Written release(Link link, String key, long base, String holderId) throws SQLException;

    /** Ends those of some holds of locks that it can end by one statement, and returns them. */
    Set<Holds.Held> releaseAll(Link link, List<Holds.Held> holds) throws SQLException {
        return Set.of();
    }

    /** Renews those of the holds that are there and that nobody else is changing now. */
    abstract List<Renewed> renew(Link link, List<Renewal> renewals) throws SQLException;

    /** Returns whether a transaction of the user keeps the row from a new hold. */
    boolean isGuarded(Link link, String key, long base) throws SQLException {
        return false;
    }

    /** Deletes the rows between two keys that nobody has used for a day. */
    abstract void purge(Link link, String from, String to) throws SQLException;

    /** Returns the row of a name; null if there is none. */
    @Nullable
    Row read(Link link, String key) throws SQLException {
        long sent = link.nanoTime();
        Row row = link.first(
                "SELECT " + columns() + " FROM " + TABLE + " WHERE lock_key = ? ORDER BY base DESC LIMIT 1",
                result -> row(result, 1),
                key);
        return noted(link, row, sent);
    }

    /** Runs a query for keys, each followed by its {@link Row}. */
    static Map<String, Row> byKey(Link link, String query, Object... parameters) throws SQLException {
        record Found(String key, Row row) {}
        return link.query(query, result -> new Found(result.getString(1), row(result, 2)), parameters).stream()
                .collect(toMap(Found::key, Found::row));
    }

    static @Nullable Row noted(Link link, @Nullable Row row, long sentNanos) {
        if (row != null) {
            link.clockWas(row.nowMicros(), sentNanos);
        }
        return row;
    }

    static Row row(ResultSet result, int first) throws SQLException {
        int at = first;
        return new Row(
                result.getLong(at++),
                result.getLong(at++),
                result.getString(at++),
                result.getLong(at++),
                result.getLong(at++),
                result.getLong(at++),
                result.getString(at++),
                result.getString(at++),
                result.getLong(at++),
                result.getLong(at++),
                result.getLong(at),
                false);
    }

    /** Returns the expression of an instant as microseconds since 1970. */
    String micros(String instant) {
        return standardMicros(instant);
    }

    static String standardMicros(String instant) {
        return "CAST(EXTRACT(EPOCH FROM " + instant + ") * 1000000 AS BIGINT)";
    }

    /** Returns the clock as a base, as {@link RowRecord#ticks} does. */
    String ticks() {
        return "CAST(FLOOR((EXTRACT(EPOCH FROM " + now() + ") - 1577836800) * 262144) AS BIGINT)";
    }

    /** Returns the columns of a {@link Row}, with this expression for the mark of the server. */
    String columns(String mark) {
        return columns(now(), mark);
    }

    /** The same, as of another instant of the database's clock. */
    String columns(String now, String mark) {
        return "base, version, holder, " + micros("ends") + ", settings, lease, queue, holders, contended, "
                + micros(now) + ", " + mark;
    }
}
