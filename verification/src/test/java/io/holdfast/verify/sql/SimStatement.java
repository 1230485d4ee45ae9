package io.holdfast.verify.sql;

import io.holdfast.sql.VerifySql;
import io.holdfast.sql.VerifySql.Note;
import io.holdfast.sql.VerifySql.Stored;
import java.sql.SQLException;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * One statement at the server: it sees what is committed, looks again at the rows that it locks, and commits. Between
 * these steps others take theirs.
 */
final class SimStatement<T extends @Nullable Object> {

    private static final long LOCK_TIMEOUT_NANOS = 1_000_000_000;

    /** Another transaction has locked a row that this statement needs. */
    static final class Blocked extends Exception {
        private static final long serialVersionUID = 1;
        private final transient SimDatabase.Slot slot;

        Blocked(SimDatabase.Slot slot) {
            super("blocked", null, false, false);
            this.slot = slot;
        }
    }

    /** What a statement does in one moment. */
    interface Body<T extends @Nullable Object> {
        T run(SimStatement<?> statement) throws Blocked;
    }

    /** Learns of the outcome at the server. */
    interface Outcome<T extends @Nullable Object> {
        void ended(@Nullable T answer, @Nullable SQLException error);
    }

    final SimSession on;
    private final SimDatabase database;
    private final List<String> keys;
    private final Body<T> body;
    private final Outcome<T> outcome;
    private final Map<String, List<SimDatabase.Version>> seen = new HashMap<>();
    private boolean waits;
    private boolean ended;
    private @Nullable T answer;

    /** Its commit need not wait for the disk. */
    boolean unsynced;

    List<Note> notes = List.of();

    /** The database's clock when it began. */
    long beganMicros;

    /** When the client had an outcome, by the world's time; 0 before. */
    private long knownNanos;

    /** The statement that this one is a copy of. */
    private final SimStatement<?> origin;

    SimStatement(SimSession on, List<String> keys, Body<T> body, Outcome<T> outcome, @Nullable SimStatement<?> origin) {
        this.on = on;
        this.database = on.database;
        this.keys = keys;
        this.body = body;
        this.outcome = outcome;
        this.origin = origin == null ? this : origin;
    }

    /** The same, for a session of its own and for nobody. */
    SimStatement<T> copy() {
        SimSession ghost = on.ghost();
        return new SimStatement<>(ghost, keys, body, (nothing, error) -> ghost.forget(), origin);
    }

    void known() {
        knownNanos = database.world.nanoTime();
    }

    /** How long ago the client learned of an outcome, or gave up. */
    long knownForNanos() {
        return origin.knownNanos == 0 ? 0 : database.world.nanoTime() - origin.knownNanos;
    }

    // --- its steps ---

    /** All at once. */
    void now() throws SQLException {
        begin();
        try {
            answer = body.run(this);
        } catch (Blocked e) {
            throw new AssertionError("a row was locked while nobody was in the middle of a statement");
        }
        if (!on.inTransaction) {
            commit(false);
        }
        outcome.ended(answer, null);
    }

    void inSteps() {
        if (on.isEnded()) {
            return;
        }
        begin();
        on.executing = true;
        step(this::attempt);
    }

    private void begin() {
        beganMicros = database.nowMicros();
        keys.forEach(key -> seen.put(key, database.versions(key)));
    }

    private void step(Runnable next) {
        long pause = database.random.nextInt(2) == 0 ? 0 : database.random.nextLong(database.troubles.stepNanosMax);
        database.world.schedule(pause, () -> database.receive(next));
    }

    private void attempt() {
        if (on.isEnded() || ended) {
            return;
        }
        try {
            answer = body.run(this);
        } catch (Blocked e) {
            if (!waits) {
                waits = true;
                database.world.schedule(LOCK_TIMEOUT_NANOS, this::lockTimeout);
            }
            e.slot.waiting.add(this::attempt);
            return;
        }
        waits = false;
        if (on.inTransaction) {
            end(null);
        } else {
            step(this::commitInSteps);
        }
    }

    private void lockTimeout() {
        if (waits && !ended && !on.isEnded()) {
            on.abort();
            end(new SQLException("canceling statement due to lock timeout", "55P03"));
        }
    }

    private void commitInSteps() {
        if (on.isEnded()) {
            return;
        }
        long wait = on.pending.isEmpty() || unsynced ? 0 : database.waitForStandby();
        if (wait == 0) {
            commit(false);
            end(null);
        } else if (database.cancelsCommits() && database.random.nextInt(3) != 0) {
            database.world.schedule(database.random.nextLong(wait), () -> {
                if (!on.isEnded()) {
                    commit(true);
                    end(database.bug == SqlBug.UNCONFIRMED_COMMIT_COUNTS ? null : VerifySql.unconfirmed());
                }
            });
        } else {
            database.world.schedule(wait + 1, this::commitInSteps);
        }
    }

    private void commit(boolean unconfirmed) {
        List<SimDatabase.Change> changes = List.copyOf(on.pending);
        on.pending.clear();
        on.inTransaction = false;
        List<Note> sent = List.copyOf(on.notes);
        on.notes.clear();
        database.commit(changes, unsynced, unconfirmed, sent);
        on.unlock();
    }

    private void end(@Nullable SQLException error) {
        ended = true;
        on.executing = false;
        outcome.ended(error == null ? answer : null, error);
    }

    // --- what a body uses ---

    /** What was committed when it began, the newest row first. */
    List<SimDatabase.Version> versions(String key) {
        return seen.getOrDefault(key, List.of()).stream()
                .sorted(Comparator.comparingLong(
                                (SimDatabase.Version version) -> version.row().base())
                        .reversed())
                .toList();
    }

    boolean isLocked(SimDatabase.Slot slot) {
        return slot.lockedBy != null && slot.lockedBy != on;
    }

    void waitFor(SimDatabase.Slot slot) throws Blocked {
        if (isLocked(slot)) {
            throw new Blocked(slot);
        }
    }

    /** The row as it is now, with what this transaction has made of it. */
    @Nullable
    Stored current(SimDatabase.Slot slot) {
        Stored row = slot.row;
        for (SimDatabase.Change change : on.pending) {
            if (change.slot() == slot) {
                row = change.after();
            }
        }
        return row;
    }

    void lock(SimDatabase.Slot slot) {
        database.lock(slot, on);
        on.locks.add(slot);
    }

    void change(SimDatabase.Slot slot, @Nullable Stored after) {
        lock(slot);
        on.pending.add(new SimDatabase.Change(slot, after));
    }
}
