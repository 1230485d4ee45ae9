package io.holdfast.engine;

import static java.util.Objects.requireNonNull;

import io.holdfast.DeadlockException;
import io.holdfast.log.Quoted;
import java.lang.invoke.VarHandle;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
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

    /** How a search came to a waiter: its thread alone releases the lease that another one waits for. */
    private record Step(Waiter waiter, ActiveLease lease) {}

    /**
     * Returns the cycle as waiter → blocking lease, starting with this waiter; null if there is none. A writer waits for
     * each of several readers, so a step may lead to several waiters.
     */
    private static @Nullable Map<Waiter, ActiveLease> cycle(Waiter last) {
        Map<Waiter, Step> reached = new HashMap<>();
        Queue<Waiter> due = new ArrayDeque<>(List.of(last));
        for (Waiter waiter = due.poll(); waiter != null; waiter = due.poll()) {
            for (ActiveLease lease : waiter.blockedBy()) {
                Thread releaser = lease.endlesslyHeldBy();
                Waiter next = releaser == null ? null : waitOf(releaser);
                if (next != null && reached.putIfAbsent(next, new Step(waiter, lease)) == null) {
                    due.add(next);
                }
                if (next == last) {
                    return steps(last, reached);
                }
            }
        }
        return null;
    }

    private static Map<Waiter, ActiveLease> steps(Waiter last, Map<Waiter, Step> reached) {
        Deque<Step> back = new ArrayDeque<>();
        Waiter waiter = last;
        do {
            Step step = requireNonNull(reached.get(waiter));
            back.push(step);
            waiter = step.waiter;
        } while (waiter != last);
        Map<Waiter, ActiveLease> steps = new LinkedHashMap<>();
        back.forEach(step -> steps.put(step.waiter, step.lease));
        return steps;
    }

    private static boolean stillStands(Map<Waiter, ActiveLease> cycle) {
        for (Map.Entry<Waiter, ActiveLease> step : cycle.entrySet()) {
            ActiveLease lease = step.getValue();
            if (!step.getKey().blockedBy().contains(lease) || lease.endlesslyHeldBy() == null) {
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
                    .append(" holds the ")
                    .append(held == null ? "" : held.hold.engine.described())
                    .append(" and would wait for ")
                    .append(Quoted.name(step.getValue().name()))
                    .append("; ");
            held = step.getValue();
        }
        return text + "so none of them would go on (expected: all threads acquire these locks in the same order or"
                + " together by acquireAll, or with a wait time)";
    }
}
