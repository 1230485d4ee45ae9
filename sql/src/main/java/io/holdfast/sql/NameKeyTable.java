package io.holdfast.sql;

import io.holdfast.record.NameMessage;
import java.sql.SQLException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The statements that databases share whose key is that of the name alone, so that a name has one row, and which send no
 * messages.
 */
abstract class NameKeyTable extends LockTable {

    private final String now;
    private final String instant;
    private final String columns;
    private final String write;
    private final String release;

    /**
     * @param now as {@link #now} returns it
     * @param instant as {@link #instant} returns it
     * @param mark the expression of a number that tells the server from others
     */
    NameKeyTable(String now, String instant, String mark) {
        this.now = now;
        this.instant = instant;
        this.columns = columns(mark);
        this.write = "UPDATE holdfast_lock SET base = ?, holder = ?, ends = " + instant
                + ", settings = ?, lease = ?, queue = ?, holders = ?, contended = ?, version = version + 1"
                + " WHERE lock_key = ? AND base = ? AND version = ? AND " + now + " <= " + instant
                + " AND " + mark + " = ?";
        this.release = "UPDATE holdfast_lock SET holder = '', ends = " + now + ", version = version + 1 WHERE"
                + " lock_key = ? AND base = ? AND holder = ? AND queue = '' AND ends > " + now;
    }

    @Override
    final String columns() {
        return columns;
    }

    @Override
    final String instant() {
        return instant;
    }

    @Override
    final String now() {
        return now;
    }

    @Override
    @Nullable
    final Row readLocked(Link link, String key) throws SQLException {
        return link.first(
                "SELECT " + columns + " FROM holdfast_lock WHERE lock_key = ? FOR UPDATE",
                result -> row(result, 1),
                key);
    }

    /** Sends nothing: other clients look at the rows. */
    @Override
    final Written write(Link link, String key, Row before, Row.Change after, List<NameMessage> messages, boolean pool)
            throws SQLException {
        int changed = link.update(
                write,
                after.base(),
                after.holder(),
                after.endMicros(),
                after.settings(),
                after.leaseMillis(),
                after.queue(),
                after.holders(),
                after.contended(),
                key,
                before.base(),
                before.version(),
                before.notAfterMicros(),
                before.mark());
        return Written.of(changed > 0);
    }

    @Override
    final Written release(Link link, String key, long base, String holderId) throws SQLException {
        return Written.of(link.update(release, key, base, holderId) > 0);
    }
}
