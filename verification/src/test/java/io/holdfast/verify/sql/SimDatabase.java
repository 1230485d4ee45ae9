package io.holdfast.verify.sql;

import io.holdfast.memory.VirtualTime;
import io.holdfast.sql.VerifySql;
import io.holdfast.sql.VerifySql.Note;
import io.holdfast.sql.VerifySql.Stored;
import io.holdfast.verify.engine.Simulation;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A database of rows, as PostgreSQL is with READ COMMITTED: a statement sees what was committed when it began, finds the
 * rows there, and looks again at one that it locks. Between its steps others take theirs. The server crashes, fails
 * over to a standby and has its clock set.
 */
final class SimDatabase {

    /** A present-day date; the simulated monotonic time is added. */
    private static final long EPOCH_MICROS = 1_800_000_000_000_000L;

    /** Longer than an entry of a queue lives. */
    private static final long ENTRY_MICROS = 700_000;

    /** A row, with all that becomes of it: its base may change. */
    static final class Slot {
        final String key;

        /** What is committed; null before that, and once it is deleted. */
        @Nullable
        Stored row;

        /** The transaction that has locked it. */
        @Nullable
        SimSession lockedBy;

        /** Statements that wait for the lock, in their order. */
        final ArrayDeque<Runnable> waiting = new ArrayDeque<>();

        Slot(String key) {
            this.key = key;
        }
    }

    /** What a statement saw of a row when it began. */
    record Version(Slot slot, Stored row) {}

    /** A change that a transaction has made. */
    record Change(Slot slot, @Nullable Stored after) {}

    final VirtualTime world;
    final SplittableRandom random;
    final SqlBug bug;

    /** How bad the network and the server are. */
    final SimTroubles troubles;

    /** Whether the key is the name alone, and nobody passes by a locked row: as on MySQL and H2. */
    final boolean plain;

    /** Whether a pooler is between: a client does not notice the end of a session that it was not using. */
    private final boolean pooled;

    private final Simulation simulation;
    private final Map<String, List<Slot>> slots = new HashMap<>();
    private final Map<String, String> names = new HashMap<>();
    private final SimCommitLog commits;
    private final List<SimSession> sessions = new ArrayList<>();
    private final Map<String, Consumer<String>> listeners = new HashMap<>();
    private int locked;
    private long clockMicros;
    private long mark = 1;
    private long downUntilNanos;
    private long stoppedUntilNanos;

    /** While its only standby is away, commits wait. */
    private long alone;

    private boolean cancels;
    boolean clockWentBack;

    /** After which time without use a row is purged: a day in reality. */
    long oldMicros = 1_200_000;

    /** How often a client purges, at most. */
    long purgeNanos = 400_000_000;

    private long jumpedMicros = Long.MIN_VALUE / 2;

    private final Map<String, Integer> epochs = new HashMap<>();
    private final Map<String, Integer> epochOfBase = new HashMap<>();
    private final Map<String, Long> highestBase = new HashMap<>();

    SimDatabase(
            Simulation simulation,
            SplittableRandom random,
            SimTroubles troubles,
            boolean plain,
            boolean pooled,
            SqlBug bug) {
        this.simulation = simulation;
        this.world = simulation.world;
        this.random = random;
        this.commits = new SimCommitLog(world, random);
        this.troubles = troubles;
        this.plain = plain;
        this.pooled = pooled;
        this.bug = bug;
        Simulation.NAMES.forEach(name -> names.put(VerifySql.key(name, false), name));
        names.put(VerifySql.key(Simulation.POOL, true), Simulation.POOL);
        names.put(VerifySql.key(Simulation.READ_WRITE, true), Simulation.READ_WRITE);
    }

    // --- the server ---

    long nowMicros() {
        return EPOCH_MICROS + clockMicros + world.nanoTime() / 1_000;
    }

    long mark() {
        return bug == SqlBug.DATED_ACROSS_SERVERS ? 1 : mark;
    }

    boolean isDown() {
        return world.nanoTime() < downUntilNanos;
    }

    /** Whether a statement can be executed now in one step: nobody is in the middle of one. */
    boolean isAtRest() {
        return locked == 0 && !isDown() && world.nanoTime() >= stoppedUntilNanos && world.nanoTime() >= alone;
    }

    /**
     * Something arrives: it happens at once, or when the process of the server runs again, or never. A pooler keeps it
     * until there is a server.
     */
    void receive(Runnable event) {
        long stopped = stoppedUntilNanos - world.nanoTime();
        if (isDown()) {
            if (pooled) {
                world.schedule(downUntilNanos - world.nanoTime(), () -> receive(event));
            }
            return;
        }
        if (stopped > 0) {
            world.schedule(stopped, () -> receive(event));
        } else {
            event.run();
        }
    }

    void opened(SimSession session) {
        sessions.removeIf(each -> !each.isKnown());
        sessions.add(session);
    }

    /** The versions of the rows of a key that are committed. */
    List<Version> versions(String key) {
        List<Version> seen = new ArrayList<>();
        for (Slot slot : slots.getOrDefault(key, List.of())) {
            if (slot.row != null) {
                seen.add(new Version(slot, slot.row));
            }
        }
        return seen;
    }

    /** A row that a transaction is about to insert; null if there is none. */
    @Nullable
    Slot inserting(String key) {
        for (Slot slot : slots.getOrDefault(key, List.of())) {
            if (slot.row == null && slot.lockedBy != null && slot.lockedBy.inserts(slot)) {
                return slot;
            }
        }
        return null;
    }

    Set<String> keys() {
        return slots.keySet();
    }

    Slot add(String key) {
        Slot slot = new Slot(key);
        slots.computeIfAbsent(key, k -> new ArrayList<>()).add(slot);
        return slot;
    }

    void lock(Slot slot, SimSession session) {
        if (slot.lockedBy == null) {
            slot.lockedBy = session;
            locked++;
        }
    }

    void unlock(Slot slot) {
        if (slot.lockedBy != null) {
            slot.lockedBy = null;
            locked--;
            List<Runnable> waiting = List.copyOf(slot.waiting);
            slot.waiting.clear();
            // Only one of them gets the lock; the others wait again.
            waiting.forEach(next -> world.schedule(0, next));
        }
    }

    /** How long a commit has to wait for the standby. */
    long waitForStandby() {
        return Math.max(0, alone - world.nanoTime());
    }

    boolean cancelsCommits() {
        return cancels;
    }

    /** @param unsynced whether the commit did not wait for the disk, nor for a standby */
    void commit(List<Change> changes, boolean unsynced, boolean unconfirmed, List<Note> notes) {
        if (!unsynced && !unconfirmed) {
            // The log is written in order: all before is now kept.
            commits.keep();
        }
        for (Change change : changes) {
            Stored before = change.slot().row;
            change.slot().row = change.after();
            commits.add(change.slot(), before, unsynced, unconfirmed);
            granted(change.slot().key, before, change.after());
        }
        send(notes);
    }

    void send(List<Note> notes) {
        for (Note note : notes) {
            Consumer<String> listener = listeners.get(note.client());
            if (listener != null) {
                listener.accept(note.text());
            }
        }
    }

    void listen(String client, Consumer<String> listener) {
        listeners.put(client, listener);
    }

    private void granted(String key, @Nullable Stored before, @Nullable Stored after) {
        if (after == null) {
            return;
        }
        String name = name(key);
        Map<String, Long> old = before == null ? Map.of() : VerifySql.holders(before, Long.MIN_VALUE / 2_000);
        VerifySql.holders(after, nowMicros()).forEach((holder, base) -> {
            if (base.equals(old.get(holder))) {
                return;
            }
            epochOfBase.put(name + ' ' + base, epoch(name));
            Long highest = highestBase.put(name, base);
            if (!Simulation.isPool(name) && highest != null && highest >= base) {
                throw new AssertionError(
                        "the database gave " + holder + " base " + base + " of " + name + " after " + highest);
            }
            if (nowMicros() - jumpedMicros < ENTRY_MICROS) {
                // The jump may be taken for time that it waited. Later than this, which the hold belongs to.
                world.schedule(0, () -> simulation.checks.forgot(forgotten(name)));
            }
        });
    }

    private List<String> forgotten(String name) {
        forget(name);
        return List.of(name);
    }

    // --- what goes wrong ---

    /** The process of the server gets no time. */
    void stop(long nanos) {
        stoppedUntilNanos = Math.max(stoppedUntilNanos, world.nanoTime() + nanos);
    }

    /** Ends all sessions that a client has noticed, and all transactions. */
    private void end(long downNanos) {
        downUntilNanos = Math.max(downUntilNanos, world.nanoTime() + downNanos);
        stoppedUntilNanos = world.nanoTime();
        alone = 0;
        mark++;
        List.copyOf(sessions).stream()
                .filter(session -> !pooled || session.isAtWork())
                .forEach(SimSession::serverEnds);
    }

    /** Stops, and starts with what was on its disk. */
    void crash(long downNanos) {
        end(downNanos);
        commits.undoUnsynced();
    }

    /** A standby takes over that had the commits up to a while ago. */
    void failOver(long lagNanos, long downNanos, long stepMicros) {
        end(downNanos);
        clockMicros += stepMicros;
        clockWentBack |= stepMicros < 0;
        commits.undoLast(lagNanos);
    }

    /** A standby takes over that has confirmed each commit that was reported as a success. */
    void failOverWithoutLoss(long downNanos, long stepMicros) {
        end(downNanos);
        clockMicros += stepMicros;
        clockWentBack |= stepMicros < 0;
        commits.undoUnconfirmed();
    }

    /** Its only standby does not answer for a while. Waits for it may be cancelled. */
    void loseStandby(long nanos, boolean cancelled) {
        alone = world.nanoTime() + nanos;
        cancels = cancelled;
    }

    void stepClock(long micros) {
        clockMicros += micros;
        clockWentBack |= micros < 0;
        if (micros > 0) {
            jumpedMicros = nowMicros();
        }
    }

    /** As a command of a client that nothing delays, without a grant to the next. */
    void forceRelease(String name) {
        slots.forEach((key, rows) -> {
            for (Slot slot : rows) {
                Stored row = slot.row;
                if (name(key).equals(name) && row != null && slot.lockedBy == null && !isDown()) {
                    slot.row = new Stored(
                            row.base(),
                            row.version() + 1,
                            "",
                            Math.min(row.endMicros(), nowMicros()),
                            0,
                            row.leaseMillis(),
                            row.queue(),
                            "",
                            row.contended());
                }
            }
        });
    }

    void purgeOften() {
        oldMicros = 500;
        purgeNanos = 5_000_000;
    }

    void deleteRows(String name) {
        slots.forEach((key, rows) -> {
            if (name(key).equals(name)) {
                rows.forEach(slot -> slot.row = slot.lockedBy == null ? null : slot.row);
            }
        });
    }

    // --- the truth ---

    String name(String key) {
        return names.getOrDefault(key, key);
    }

    private @Nullable Stored newest(List<Slot> rows) {
        Stored newest = null;
        for (Slot slot : rows) {
            Stored row = slot.row;
            newest = row != null && (newest == null || row.base() > newest.base()) ? row : newest;
        }
        return newest;
    }

    Set<String> holders() {
        Set<String> holders = new HashSet<>();
        for (List<Slot> rows : slots.values()) {
            Stored row = newest(rows);
            if (row != null) {
                holders.addAll(VerifySql.holders(row, nowMicros()).keySet());
            }
        }
        return holders;
    }

    Set<String> used() {
        Set<String> used = new HashSet<>();
        slots.forEach((key, rows) -> {
            Stored row = newest(rows);
            if (row != null
                    && (!VerifySql.holders(row, nowMicros()).isEmpty() || VerifySql.anyWaits(row, nowMicros()))) {
                used.add(name(key));
            }
        });
        return used;
    }

    int epoch(String name) {
        return epochs.getOrDefault(name, 0);
    }

    void forget(String name) {
        epochs.merge(name, 1, Integer::sum);
    }

    int epochOf(String name, long base) {
        return epochOfBase.getOrDefault(name + ' ' + base, -1);
    }

    /** Says what it does, for the timeline. */
    void log(Supplier<String> what) {
        if (SimTroubles.TELLING) {
            simulation.recorder.log("%s", what.get());
        }
    }
}
