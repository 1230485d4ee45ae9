package io.holdfast.verify.sql;

import io.holdfast.sql.VerifySql;
import io.holdfast.sql.VerifySql.Note;
import io.holdfast.sql.VerifySql.Renew;
import io.holdfast.sql.VerifySql.Renewed;
import io.holdfast.sql.VerifySql.Seen;
import io.holdfast.sql.VerifySql.Stored;
import io.holdfast.sql.VerifySql.Took;
import io.holdfast.sql.VerifySql.Wanted;
import io.holdfast.sql.VerifySql.Wrote;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** What the statements of the store do with the rows, and what they would do with a {@link SqlBug}. */
final class SimStatements {

    /** How late a take may be executed after its client has given it up: what the store promises. */
    private static final long LATENESS_NANOS = 8_000_000_000L;

    private static final Wrote WROTE = new Wrote(true, null);

    private final SimDatabase database;
    private final SqlBug bug;

    /** By how much the clock of the client is ahead, which no statement asks for. */
    private final long aheadMicros;

    private @Nullable Seen made;
    private String madeKey = "";

    SimStatements(SimDatabase database, long aheadMicros) {
        this.database = database;
        this.bug = database.bug;
        this.aheadMicros = aheadMicros;
    }

    private long now() {
        return database.nowMicros() + aheadMicros;
    }

    private Seen seen(Stored row) {
        return new Seen(row, now(), database.mark());
    }

    /** A row as of the beginning of the statement, which is what it shows. */
    private Seen found(SimStatement<?> statement, Stored row) {
        return new Seen(row, statement.beganMicros + aheadMicros, database.mark());
    }

    /** The row that a statement finds for a name. */
    private SimDatabase.@Nullable Version newest(SimStatement<?> statement, String key) {
        for (SimDatabase.Version version : statement.versions(key)) {
            boolean passesBy = bug == SqlBug.SKIPS_TO_AN_OLDER_ROW && statement.isLocked(version.slot());
            if (!passesBy) {
                return version;
            }
        }
        return null;
    }

    @Nullable
    Took take(SimStatement<?> statement, String key, String holderId, long leaseMillis, long notAfter)
            throws SimStatement.Blocked {
        SimDatabase.Version newest = newest(statement, key);
        if (bug == SqlBug.NEWEST_NOT_ASKED_FOR) {
            for (SimDatabase.Version version : statement.versions(key)) {
                newest = isFree(version.row(), notAfter) ? version : newest;
            }
        }
        if (newest == null) {
            return null;
        }
        SimDatabase.Slot slot = newest.slot();
        if (isFree(newest.row(), notAfter)) {
            if (database.plain) {
                statement.waitFor(slot);
            }
            Stored current = statement.isLocked(slot) ? null : statement.current(slot);
            boolean same = current != null
                    && (database.plain || current.base() == newest.row().base());
            if (current != null && same && isFree(current, notAfter)) {
                if (statement.knownForNanos() > LATENESS_NANOS && !database.clockWentBack) {
                    throw new AssertionError("a take of " + holderId + " was executed "
                            + statement.knownForNanos() / 1_000_000 + " ms after its client gave it up");
                }
                Stored taken = new Stored(
                        base(current),
                        current.version() + 1,
                        holderId,
                        now() + leaseMillis * 1_000,
                        0,
                        leaseMillis,
                        "",
                        "",
                        0);
                statement.change(slot, taken);
                database.log(() -> "takes " + database.name(key) + ": " + taken);
                return new Took(taken.base(), seen(taken));
            }
        }
        return database.plain ? null : new Took(0, found(statement, newest.row()));
    }

    Map<Wanted, Long> takeAll(SimStatement<?> statement, List<Wanted> wanted, long notAfter)
            throws SimStatement.Blocked {
        Map<Wanted, Long> taken = new HashMap<>();
        for (Wanted each : wanted) {
            Took took = take(statement, each.key(), each.holderId(), each.leaseMillis(), notAfter);
            if (took != null && took.base() > 0) {
                taken.put(bug == SqlBug.TAKES_MIXED_UP ? next(wanted, each) : each, took.base());
            }
        }
        return taken;
    }

    private static <T> T next(List<T> all, T one) {
        return all.get((all.indexOf(one) + 1) % all.size());
    }

    private long base(Stored row) {
        return bug == SqlBug.GRANT_KEEPS_THE_BASE
                ? Math.max(1, row.base())
                : Math.max(row.base() + 1, VerifySql.ticks(now()));
    }

    private boolean isFree(Stored row, long notAfter) {
        return row.queue().isEmpty()
                && row.holders().isEmpty()
                && row.endMicros() <= now()
                && (now() <= notAfter || bug == SqlBug.LATE_TAKE);
    }

    boolean make(SimStatement<?> statement, String key, long version) throws SimStatement.Blocked {
        for (SimDatabase.Version each : database.versions(key)) {
            if (database.plain || each.row().base() == 0) {
                statement.waitFor(each.slot());
                return false;
            }
        }
        SimDatabase.Slot inserting = database.inserting(key);
        if (inserting != null) {
            statement.waitFor(inserting);
        }
        long first = switch (bug) {
            case MADE_ROWS_HAVE_VERSION_1 -> 1;
            case VERSION_OF_THE_CLIENT -> version;
            default -> version + database.random.nextLong(1L << 53);
        };
        Stored row = new Stored(0, first, "", now(), 0, 0, "", "", 0);
        statement.change(database.add(key), row);
        database.log(() -> "makes " + database.name(key) + ": " + row);
        if (bug == SqlBug.WRITE_AFTER_MAKE) {
            made = seen(row);
            madeKey = key;
        }
        return true;
    }

    /** A row that was made, with {@link SqlBug#WRITE_AFTER_MAKE}. */
    @Nullable
    Seen madeJustNow(String key) {
        Seen row = madeKey.equals(key) ? made : null;
        made = null;
        return row;
    }

    @Nullable
    Seen read(SimStatement<?> statement, String key) {
        List<SimDatabase.Version> all = statement.versions(key);
        return all.isEmpty() ? null : found(statement, all.get(0).row());
    }

    @Nullable
    Seen readLocked(SimStatement<?> statement, String key) throws SimStatement.Blocked {
        for (SimDatabase.Version version : statement.versions(key)) {
            if (bug == SqlBug.SKIPS_TO_AN_OLDER_ROW && statement.isLocked(version.slot())) {
                continue;
            }
            statement.waitFor(version.slot());
            Stored current = statement.current(version.slot());
            if (current != null) {
                statement.lock(version.slot());
                return seen(current);
            }
        }
        return null;
    }

    Wrote write(
            SimStatement<?> statement,
            String key,
            Stored before,
            long mark,
            Stored after,
            long notAfter,
            List<Note> notes)
            throws SimStatement.Blocked {
        boolean moves = after.base() != before.base();
        if (bug == SqlBug.MESSAGE_BEFORE_THE_COMMIT) {
            database.send(notes);
        }
        SimDatabase.Version version = asRead(statement, key, before);
        boolean elsewhere = mark != database.mark() && bug != SqlBug.WRITTEN_ON_ANOTHER_SERVER;
        if (version == null || elsewhere) {
            return missed(statement, key, before.base());
        }
        statement.waitFor(version.slot());
        Stored current = statement.current(version.slot());
        if (!isAsRead(current, current, before) || now() > notAfter || current == null) {
            return missed(statement, key, before.base());
        }
        Stored written = changed(before, after, current.version() + 1, moves);
        statement.change(version.slot(), written);
        if (bug != SqlBug.MESSAGE_BEFORE_THE_COMMIT) {
            statement.on.notes.addAll(notes);
        }
        database.log(() -> "writes " + database.name(key) + ": " + written);
        return WROTE;
    }

    private SimDatabase.@Nullable Version asRead(SimStatement<?> statement, String key, Stored before) {
        for (SimDatabase.Version version : statement.versions(key)) {
            if (isAsRead(statement.current(version.slot()), version.row(), before)) {
                return version;
            }
        }
        return null;
    }

    /** A change of nothing. It has locked the row, and tells what that is now. */
    private Wrote missed(SimStatement<?> statement, String key, long base) throws SimStatement.Blocked {
        for (SimDatabase.Version version : database.plain ? List.<SimDatabase.Version>of() : statement.versions(key)) {
            if (version.row().base() >= base) {
                statement.waitFor(version.slot());
                Stored current = statement.current(version.slot());
                if (current != null) {
                    statement.lock(version.slot());
                    return new Wrote(false, seen(current));
                }
            }
        }
        return new Wrote(false, null);
    }

    /** A transaction's own changes count as seen. */
    private boolean isAsRead(@Nullable Stored current, @Nullable Stored seen, Stored before) {
        Stored row = current != null && current.version() == before.version() ? current : seen;
        return row != null
                && row.base() == before.base()
                && (row.version() == before.version() || bug == SqlBug.VERSION_NOT_COMPARED);
    }

    private Stored changed(Stored before, Stored after, long version, boolean moves) {
        boolean enqueues = !moves
                && after.queue().length() > before.queue().length()
                && !after.holder().isEmpty();
        return new Stored(
                after.base(),
                version,
                after.holder(),
                bug == SqlBug.ENQUEUE_WRITES_ENDS && enqueues ? now() + 600_000 : after.endMicros(),
                after.settings(),
                after.leaseMillis(),
                bug == SqlBug.ENTRY_STAYS_AFTER_ITS_GRANT && moves ? before.queue() : after.queue(),
                after.holders(),
                after.contended());
    }

    @Nullable
    Seen append(
            SimStatement<?> statement, String key, long base, String entry, String word, String holderId, long notAfter)
            throws SimStatement.Blocked {
        Predicate<Stored> isWaitedFor = row -> row.base() >= base
                && !row.queue().isEmpty()
                && !row.holder().isEmpty()
                && (!row.queue().contains(word) || bug == SqlBug.APPEND_OF_A_WAITER)
                && (!row.holder().equals(holderId) || bug == SqlBug.APPEND_OF_THE_HOLDER)
                && row.endMicros() > now()
                && now() <= notAfter;
        for (SimDatabase.Version version : statement.versions(key)) {
            if (isWaitedFor.test(version.row())) {
                statement.waitFor(version.slot());
                Stored current = statement.current(version.slot());
                if (current != null && isWaitedFor.test(current)) {
                    String queue =
                            bug == SqlBug.APPEND_TO_A_SEEN_QUEUE ? version.row().queue() : current.queue();
                    Stored after = new Stored(
                            current.base(),
                            current.version() + 1,
                            current.holder(),
                            current.endMicros(),
                            current.settings(),
                            current.leaseMillis(),
                            queue + entry,
                            current.holders(),
                            current.contended());
                    statement.change(version.slot(), after);
                    database.log(() -> "appends to " + database.name(key) + ": " + after);
                    return seen(after);
                }
            }
        }
        return null;
    }

    Wrote release(SimStatement<?> statement, String key, long base, String holderId) throws SimStatement.Blocked {
        for (SimDatabase.Version version : statement.versions(key)) {
            if (isHeld(version.row(), base, holderId)) {
                statement.waitFor(version.slot());
                Stored current = statement.current(version.slot());
                if (current != null && isHeld(current, base, holderId)) {
                    statement.change(version.slot(), ends(current, "", now(), current.settings()));
                    database.log(() -> "releases " + database.name(key) + ": " + base);
                    return WROTE;
                }
            }
        }
        return missed(statement, key, base);
    }

    /** Passes by the rows that others have locked. */
    Set<Renew> releaseAll(SimStatement<?> statement, List<Renew> holds) throws SimStatement.Blocked {
        Set<Renew> released = new HashSet<>();
        for (Renew each : holds) {
            boolean free = statement.versions(each.key()).stream().noneMatch(one -> statement.isLocked(one.slot()));
            if (free
                    && release(statement, each.key(), each.base(), each.holderId())
                            .done()) {
                released.add(bug == SqlBug.RELEASES_MIXED_UP ? next(holds, each) : each);
            }
        }
        return released;
    }

    private boolean isHeld(Stored row, long base, String holderId) {
        return row.base() == base
                && row.holder().equals(holderId)
                && (row.queue().isEmpty() || bug == SqlBug.RELEASE_IGNORES_THE_QUEUE)
                && row.endMicros() > now();
    }

    private static Stored ends(Stored row, String holder, long endMicros, long settings) {
        return new Stored(
                row.base(),
                row.version() + 1,
                holder,
                endMicros,
                settings,
                row.leaseMillis(),
                row.queue(),
                row.holders(),
                row.contended());
    }

    List<Renewed> renew(SimStatement<?> statement, List<Renew> renewals) throws SimStatement.Blocked {
        if (database.plain) {
            for (Renew each : renewals) {
                for (SimDatabase.Version version : statement.versions(each.key())) {
                    statement.waitFor(version.slot());
                }
            }
        }
        List<Renewed> renewed = new ArrayList<>();
        for (Renew each : renewals) {
            for (SimDatabase.Version version : statement.versions(each.key())) {
                Stored current = statement.isLocked(version.slot()) ? null : statement.current(version.slot());
                if (isRenewed(version.row(), each) && current != null && isRenewed(current, each)) {
                    long end = Math.max(current.endMicros(), now() + each.leaseMillis() * 1_000);
                    long settings = bug == SqlBug.RENEWAL_KEEPS_ITS_NUMBER
                            ? current.settings()
                            : Math.max(current.settings(), each.sequence());
                    Stored after = ends(current, current.holder(), end, settings);
                    statement.change(version.slot(), after);
                    database.log(() -> "renews " + database.name(each.key()) + ": " + after);
                    renewed.add(new Renewed(each.key(), each.holderId(), after.queue(), now()));
                    break;
                }
            }
        }
        return renewed;
    }

    private boolean isRenewed(Stored row, Renew renewal) {
        if (bug == SqlBug.RENEWAL_OF_ANY_HOLDER) {
            return !row.holder().isEmpty() && row.endMicros() > now();
        }
        return row.base() == renewal.base()
                && row.holder().equals(renewal.holderId())
                && row.settings() <= renewal.sequence()
                && row.endMicros() > now();
    }

    boolean purge(SimStatement<?> statement, List<String> keys) throws SimStatement.Blocked {
        for (String key : keys) {
            for (SimDatabase.Version version : statement.versions(key)) {
                if (!isOld(version.row())) {
                    continue;
                }
                if (bug == SqlBug.PURGE_BY_KEYS) {
                    for (SimDatabase.Version any : database.versions(key)) {
                        statement.waitFor(any.slot());
                        statement.change(any.slot(), null);
                    }
                    break;
                }
                if (database.plain) {
                    statement.waitFor(version.slot());
                }
                Stored current = statement.isLocked(version.slot()) ? null : statement.current(version.slot());
                if (current != null && isOld(current)) {
                    statement.change(version.slot(), null);
                    database.log(() -> "purges " + database.name(key) + ": " + current);
                }
            }
        }
        return true;
    }

    private boolean isOld(Stored row) {
        return row.endMicros() < now() - database.oldMicros && row.base() <= VerifySql.ticks(now());
    }
}
