package io.holdfast.sql;

import io.holdfast.record.NameDecision;
import io.holdfast.record.NameMessage;
import io.holdfast.record.NameRecord;
import io.holdfast.record.NameRecord.Hold;
import java.util.List;
import java.util.function.Function;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * One command on a row that was read: the row as a record, the decision, and what it makes of the row. Pure.
 *
 * @param <T> the reply
 */
final class RowRecord<T> implements LongSupplier {

    private static final long MICROS_2020 = 1_577_836_800_000_000L;

    private final String name;
    private final Row row;
    private final boolean pool;
    private final boolean guarded;
    private final NameDecision decision;
    private final T reply;

    /** The largest base so far. */
    private long base;

    RowRecord(String name, boolean pool, Row row, Function<NameDecision, T> command) {
        this(name, pool, row, false, command);
    }

    private RowRecord(String name, boolean pool, Row row, boolean guarded, Function<NameDecision, T> command) {
        this.name = name;
        this.row = row;
        this.pool = pool;
        this.guarded = guarded;
        this.base = row.base();
        long now = row.nowMicros() * 1_000;
        this.decision = new NameDecision(name, record(name, pool, row), guarded, now, this, holderId -> true);
        this.reply = command.apply(decision);
    }

    /** Returns the command on the row of a lock that an open transaction guards: nothing can be granted. */
    static <T> RowRecord<T> guarded(String name, Row row, Function<NameDecision, T> command) {
        return new RowRecord<>(name, false, row, true, command);
    }

    private static NameRecord record(String name, boolean pool, Row row) {
        List<Hold> holds;
        if (pool) {
            holds = QueueText.holds(row.holders());
        } else if (row.holder().isEmpty()) {
            holds = List.of();
        } else {
            holds = List.of(new Hold(row.holder(), 1, row.base(), row.endMicros() * 1_000, row.settings()));
        }
        return new NameRecord(holds, QueueText.entries(name, row.queue()));
    }

    /**
     * Returns the next base: the database's clock in units of 2<sup>−18</sup> s since 2020, or the last base plus one.
     * So bases grow even past the purge of a row, unless the clock goes back by a day.
     */
    @Override
    public long getAsLong() {
        base = Math.max(base + 1, ticks(row.nowMicros()));
        return base;
    }

    /** The same as in the statement that takes a free lock. */
    static long ticks(long micros) {
        long since = micros - MICROS_2020;
        return ((since / 1_000_000) << 18) + (((since % 1_000_000) << 18) / 1_000_000);
    }

    T reply() {
        return reply;
    }

    List<NameMessage> messages() {
        NameRecord after = decision.after();
        boolean ended = !row.isOver() && after.holds().isEmpty();
        return guarded && ended && !after.queue().isEmpty()
                ? List.of(new NameMessage.Freed(name, after.queue().get(0).holderId()))
                : decision.messages();
    }

    /** Returns whether somebody was granted the name, which changes the key of its row. */
    boolean isGranting() {
        return base != row.base();
    }

    /** Returns the row after the command; null if the command changed nothing that counts. */
    Row.@Nullable Change change() {
        NameRecord after = decision.after();
        long now = row.nowMicros() * 1_000;
        String queue = QueueText.text(after.queue(), row.queue(), now, row.mark());
        boolean contended = messages().stream().anyMatch(NameMessage.Contended.class::isInstance);
        boolean granted = isGranting();
        long begun = (granted && !pool ? 0 : row.contended()) + (contended ? 1 : 0);
        Row.Change change = pool ? pool(after.holds(), queue, begun) : lock(after.holds(), queue, begun, granted);
        // Entries that have died may stay until somebody else writes.
        boolean sameQueue = queue.equals(row.queue()) || (queue.isEmpty() && !anyAlive(now));
        boolean same = !granted && !contended && sameQueue && sameHolds(after.holds(), now);
        return same ? null : change;
    }

    private boolean anyAlive(long now) {
        return QueueText.entries("", row.queue()).stream().anyMatch(entry -> entry.isAlive(now));
    }

    private boolean sameHolds(List<Hold> after, long now) {
        List<Hold> before = record("", pool, row).holds().stream()
                .filter(hold -> !hold.isOver(now))
                .toList();
        return before.equals(after);
    }

    private Row.Change lock(List<Hold> holds, String queue, long contended, boolean granted) {
        if (holds.isEmpty() && guarded && row.isOver()) {
            // The guard looks for its holder again before its commit.
            return new Row.Change(
                    base, row.holder(), row.endMicros(), row.settings(), row.leaseMillis(), queue, "", contended);
        }
        if (holds.isEmpty()) {
            long end = Math.min(row.endMicros(), row.nowMicros());
            return new Row.Change(base, "", end, 0, row.leaseMillis(), queue, "", contended);
        }
        Hold hold = holds.get(0);
        long end = hold.endNanos() / 1_000;
        long lease = granted ? (end - row.nowMicros()) / 1_000 : row.leaseMillis();
        return new Row.Change(base, hold.holderId(), end, hold.sequence(), lease, queue, "", contended);
    }

    private Row.Change pool(List<Hold> holds, String queue, long contended) {
        long end = holds.stream()
                .mapToLong(hold -> hold.endNanos() / 1_000)
                .max()
                .orElse(Math.min(row.endMicros(), row.nowMicros()));
        return new Row.Change(base, "", end, 0, 0, queue, QueueText.text(holds), contended);
    }
}
