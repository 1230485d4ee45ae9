package io.holdfast.engine;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The local waiters of one name, first come first served. Linked through the waiters themselves, as any of them may
 * leave from the middle. Guarded by the lock of the name.
 */
final class WaitQueue {

    private @Nullable Waiter first;
    private @Nullable Waiter last;

    /** Whether there may be a waiter that is overdue: see {@link Waiter#overdue}. */
    boolean hasOverdue;

    /** When a waiter was last woken to take the lock: the beginning of its turn. */
    long turnNanos;

    void add(Waiter waiter) {
        waiter.before = last;
        if (last == null) {
            first = waiter;
        } else {
            last.after = waiter;
        }
        last = waiter;
    }

    /** Only for a waiter that is in this queue. */
    void remove(Waiter waiter) {
        if (waiter.before == null) {
            first = waiter.after;
        } else {
            waiter.before.after = waiter.after;
        }
        if (waiter.after == null) {
            last = waiter.before;
        } else {
            waiter.after.before = waiter.before;
        }
        waiter.before = null;
        waiter.after = null;
    }

    /** Notes which command of the attempt those wait for who know nothing of the name yet. */
    void expectAnswer(Attempt asked) {
        for (Waiter waiter = first; waiter != null; waiter = waiter.after) {
            if (!asked.wasBusyFor(waiter)) {
                waiter.command = asked.sent;
            }
        }
    }

    @Nullable
    Waiter first() {
        return first;
    }

    boolean isEmpty() {
        return first == null;
    }

    /** Counts the waiters one by one; for diagnostics. */
    int size() {
        int size = 0;
        for (Waiter waiter = first; waiter != null; waiter = waiter.after) {
            size++;
        }
        return size;
    }

    List<Waiter> drain() {
        List<Waiter> all = new ArrayList<>();
        for (Waiter waiter = first; waiter != null; waiter = first) {
            all.add(waiter);
            remove(waiter);
        }
        return all;
    }
}
