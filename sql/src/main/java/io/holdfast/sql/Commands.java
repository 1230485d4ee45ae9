package io.holdfast.sql;

import io.holdfast.record.NameDecision;
import io.holdfast.spi.StoreException;
import io.holdfast.spi.StoreException.Outcome;
import java.sql.SQLException;
import java.util.function.Function;
import java.util.function.LongUnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * Reads a row, decides, and writes it if nobody else has changed it since. Another client that was faster has got
 * through, so there is always progress; and from the fourth try on the row is locked, so that a distant client is not
 * starved by near ones.
 */
final class Commands {

    private static final int TRIES_WITHOUT_LOCK = 3;

    /** Makes and purges could take turns, in theory. */
    private static final int MAKES = 3;

    private static final long VERSIONS = 1L << 53;

    /** A reply, and the row in which it was decided. */
    record Decided<T>(T reply, Row row) {}

    private final LockTable table;
    private final SqlErrors errors;
    private final boolean pool;
    private final LongUnaryOperator random;

    Commands(LockTable table, SqlErrors errors, boolean pool, LongUnaryOperator random) {
        this.table = table;
        this.errors = errors;
        this.pool = pool;
        this.random = random;
    }

    String key(String name) {
        return pool ? LockKey.ofPool(name) : LockKey.of(name);
    }

    LockTable table() {
        return table;
    }

    /** Makes the row of a name. Its version was never met before: a write for another row of the name must not fit. */
    void make(Link link, String name) throws SQLException {
        long version = random.applyAsLong(VERSIONS) | 1;
        table.make(link, key(name), LockKey.shown(name), version);
    }

    /** Runs a command that needs a row. Makes one if there is none. */
    <T> Decided<T> decideMaking(Link link, String name, Function<NameDecision, T> command) throws SQLException {
        for (int i = 0; i < MAKES; i++) {
            Decided<T> decided = decide(link, name, null, command);
            if (decided != null) {
                return decided;
            }
            make(link, name);
        }
        throw errors.exception(Outcome.NOT_EXECUTED, "lost the row of a lock again and again", null);
    }

    /**
     * Runs a command. Returns null if there is no row: nobody holds the name or waits for it.
     *
     * @param read the row, if this connection's last statement has told it
     */
    <T> @Nullable Decided<T> decide(Link link, String name, @Nullable Row read, Function<NameDecision, T> command)
            throws SQLException {
        String key = key(name);
        Row row = read;
        long tried = 0;
        int tries = row != null && row.isPresumed() ? TRIES_WITHOUT_LOCK + 1 : TRIES_WITHOUT_LOCK;
        for (int i = 0; i < tries; i++) {
            if (row == null) {
                row = table.read(link, key);
            }
            if (row == null) {
                return null;
            }
            if (row.version() == tried) {
                // Nobody has changed it: it is locked.
                break;
            }
            RowRecord<T> decision = new RowRecord<>(name, pool, row, command);
            LockTable.Written written = write(link, key, row, decision);
            if (written.done()) {
                Row.Change change = decision.change();
                if (change != null && decision.isGranting() && !pool) {
                    // Who has passed the lock on may come back at once.
                    link.wrote(key, row.after(change));
                }
                return new Decided<>(decision.reply(), row);
            }
            tried = row.isPresumed() ? 0 : row.version();
            row = written.found();
        }
        return link.together(() -> {
            Row locked = table.readLocked(link, key);
            return locked == null ? null : decideLocked(link, name, locked, command);
        });
    }

    /**
     * Runs a command on a row that this transaction has locked. Only a guard can still keep a grant from being written:
     * it locks the key of the row.
     */
    private <T> Decided<T> decideLocked(Link link, String name, Row locked, Function<NameDecision, T> command)
            throws SQLException {
        String key = key(name);
        RowRecord<T> decision = new RowRecord<>(name, pool, locked, command);
        if (written(link, key, locked, decision)) {
            return new Decided<>(decision.reply(), locked);
        }
        if (!pool && decision.isGranting()) {
            RowRecord<T> ungranted = RowRecord.guarded(name, locked, command);
            if (written(link, key, locked, ungranted)) {
                return new Decided<>(ungranted.reply(), locked);
            }
        }
        throw locked(name);
    }

    /** Writes what the command has made of the row. Returns false if it was not as it was read, or is locked. */
    <T> boolean written(Link link, String key, Row row, RowRecord<T> decision) throws SQLException {
        return write(link, key, row, decision).done();
    }

    private <T> LockTable.Written write(Link link, String key, Row row, RowRecord<T> decision) throws SQLException {
        Row.Change change = decision.change();
        if (change == null) {
            // Only a row that was read can answer without a write.
            return row.isPresumed() ? LockTable.Written.UNTOLD : LockTable.Written.DONE;
        }
        return table.write(link, key, row, change, decision.messages(), pool);
    }

    StoreException locked(String name) {
        return errors.exception(
                Outcome.NOT_EXECUTED,
                "has a transaction of somebody else's that locks the row of the lock \"" + LockKey.shown(name) + "\"",
                null);
    }
}
