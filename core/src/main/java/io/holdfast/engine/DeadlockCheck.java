package io.holdfast.engine;

import io.holdfast.DeadlockException;
import io.holdfast.log.Quoted;
import java.lang.invoke.VarHandle;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Finds threads of this process that wait for each other forever. A thread's wait is its park blocker, so nothing
 * is registered, and a lock that is free or soon will be costs no more than a fence.
 *
 * <p>Invariant (no cycle is missed): each waiter publishes its wait, then a fence, then looks. A cycle can only be
 * closed by a thread that begins to wait, as a thread that is granted a lock does not wait any more. So the last one to
 * publish sees the waits and leases of all others.
 *
 * <p>Invariant (none is seen that is not there): the waits and leases of a cycle are read twice. A thread that was in
 * the same wait both times released nothing in between. So all leases that were read in between were held at one
 * moment, at which all these threads waited. Of several waiters that see the same cycle, one is refused.
 */
final class DeadlockCheck {

    /**
     * Taken only when a cycle was seen, and with no other lock held. Never waited for by parking: that would replace
     * the thread's park blocker, which is the published wait.
     */
    static final ReentrantLock REFUSING = new ReentrantLock();

    private DeadlockCheck() {}

    /** Publishes that the calling thread is about to park, and returns why it must not; null if it may. */
    static @Nullable DeadlockException beforeParking(Waiter waiter) {
        if (!waiter.isUnbounded()) {
            return null;
        }
        LockSupport.setCurrentBlocker(waiter); // the park that follows always clears it
        VarHandle.fullFence();
        Map<Waiter, ActiveLease> cycle = cycle(waiter);
        if (cycle == null) {
            return null;
        }
        while (!REFUSING.tryLock()) {
            Thread.onSpinWait();
        }
        try {
            if (!stillStands(cycle)) {
                return null;
            }
            waiter.refused = true;
        } finally {
            REFUSING.unlock();
        }
        return new DeadlockException(
                describe(cycle), cycle.values().stream().map(ActiveLease::name).toList());
    }

    /** Returns the cycle as waiter → blocking lease, starting with this waiter; null if there is none. */
    private static @Nullable Map<Waiter, ActiveLease> cycle(Waiter last) {
        Map<Waiter, ActiveLease> steps = null;
        Waiter waiter = last;
        do {
            ActiveLease lease = waiter.blockedBy();
            Thread releaser = lease == null ? null : lease.endlesslyHeldBy();
            Waiter next = releaser == null ? null : waitOf(releaser);
            if (lease == null || next == null || (steps != null && steps.containsKey(waiter))) {
                return null;
            }
            if (steps == null) {
                steps = new LinkedHashMap<>();
            }
            steps.put(waiter, lease);
            waiter = next;
        } while (waiter != last);
        return steps;
    }

    private static boolean stillStands(Map<Waiter, ActiveLease> cycle) {
        for (Map.Entry<Waiter, ActiveLease> step : cycle.entrySet()) {
            ActiveLease lease = step.getValue();
            if (step.getKey().blockedBy() != lease || lease.endlesslyHeldBy() == null) {
                return false;
            }
        }
        for (Waiter waiter : cycle.keySet()) {
            Thread thread = waiter.parked;
            if (thread == null || waitOf(thread) != waiter || waiter.refused) {
                return false;
            }
        }
        return true;
    }

    private static @Nullable Waiter waitOf(Thread thread) {
        return LockSupport.getBlocker(thread) instanceof Waiter waiter && waiter.isUnbounded() ? waiter : null;
    }

    private static String describe(Map<Waiter, ActiveLease> cycle) {
        StringBuilder text = new StringBuilder("Deadlock: ");
        ActiveLease held = null;
        for (ActiveLease lease : cycle.values()) {
            held = lease; // the last one is the caller's
        }
        for (Map.Entry<Waiter, ActiveLease> step : cycle.entrySet()) {
            text.append(step.getKey().describe())
                    .append(" holds the lock ")
                    .append(Quoted.name(held == null ? "" : held.name()))
                    .append(" and would wait for ")
                    .append(Quoted.name(step.getValue().name()))
                    .append("; ");
            held = step.getValue();
        }
        return text + "so none of them would go on (expected: all threads acquire these locks in the same order or"
                + " together by acquireAll, or with a wait time)";
    }
}
