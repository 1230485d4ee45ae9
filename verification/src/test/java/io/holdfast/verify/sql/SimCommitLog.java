package io.holdfast.verify.sql;

import io.holdfast.memory.VirtualTime;
import io.holdfast.sql.VerifySql.Stored;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Iterator;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;

/** The changes that were committed in the last seconds, in their order: a crash or a failover undoes the last of them. */
final class SimCommitLog {

    /** Longer than the standby lags or is away, and than what a crash may forget of commits that need not be synced. */
    private static final long LOG_NANOS = 6_000_000_000L;

    private static final long UNSYNCED_NANOS = 600_000_000;

    private record Logged(
            long nanos, SimDatabase.Slot slot, @Nullable Stored before, boolean unsynced, boolean unconfirmed) {}

    private final VirtualTime world;
    private final SplittableRandom random;
    private final Deque<Logged> log = new ArrayDeque<>();

    SimCommitLog(VirtualTime world, SplittableRandom random) {
        this.world = world;
        this.random = random;
    }

    /**
     * Adds a change.
     *
     * @param unsynced whether the commit did not wait for the disk, nor for a standby
     */
    void add(SimDatabase.Slot slot, @Nullable Stored before, boolean unsynced, boolean unconfirmed) {
        log.add(new Logged(world.nanoTime(), slot, before, unsynced, unconfirmed));
        while (world.nanoTime() - log.getFirst().nanos() > LOG_NANOS) {
            log.removeFirst();
        }
    }

    /** Makes all changes certain. Those that are not yet are the last ones. */
    void keep() {
        Deque<Logged> kept = new ArrayDeque<>();
        while (!log.isEmpty() && (log.getLast().unsynced() || log.getLast().unconfirmed())) {
            Logged last = log.removeLast();
            kept.addFirst(new Logged(last.nanos(), last.slot(), last.before(), false, false));
        }
        log.addAll(kept);
    }

    /** Undoes some of the changes that are not on the disk, or none. */
    void undoUnsynced() {
        int certain = 0;
        int at = 0;
        for (Logged each : log) {
            at++;
            certain = each.unsynced() && world.nanoTime() - each.nanos() < UNSYNCED_NANOS ? certain : at;
        }
        int uncertain = log.size() - certain;
        undo(uncertain > 0 ? uncertain - random.nextInt(uncertain + 1) : 0);
    }

    /** Undoes the changes of the last time. */
    void undoLast(long nanos) {
        undo((int) log.stream()
                .filter(each -> world.nanoTime() - each.nanos() < nanos)
                .count());
    }

    /** Undoes the changes that no standby has confirmed. */
    void undoUnconfirmed() {
        int count = 0;
        for (Iterator<Logged> last = log.descendingIterator(); last.hasNext(); count++) {
            Logged each = last.next();
            if (!each.unsynced() && !each.unconfirmed()) {
                break;
            }
        }
        undo(count);
    }

    private void undo(int count) {
        for (int i = 0; i < count; i++) {
            Logged last = log.removeLast();
            last.slot().row = last.before();
        }
        log.clear();
    }
}
