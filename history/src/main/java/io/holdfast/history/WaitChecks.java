package io.holdfast.history;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Consumer;

/** Checks the waits. */
final class WaitChecks {

    private WaitChecks() {}

    /** Checks that every operation of a living process has an outcome. {@link Operation} finds a second outcome. */
    static void outcomes(Recording recording, List<String> violations) {
        if (!recording.settings.complete) {
            return;
        }
        for (Operation operation : recording.operations) {
            if (operation.outcome() == Operation.NEVER && recording.death(operation.process) == Operation.NEVER) {
                violations.add(operation + " had no outcome");
            }
        }
    }

    /** Checks that a bounded wait ends in time, without the pauses of its process. */
    static void waits(Recording recording, List<String> violations) {
        for (Operation operation : recording.operations) {
            if (operation.wait == Operation.NEVER || operation.outcome() == Operation.NEVER) {
                continue;
            }
            long took = operation.outcome()
                    - operation.asked
                    - recording.paused(operation.process, operation.asked, operation.outcome());
            if (took - operation.wait > recording.settings.waitSlack) {
                violations.add(operation + " waited for " + Operation.millis(took) + " ms, wanted to wait for "
                        + Operation.millis(operation.wait) + " ms at most");
            }
        }
    }

    /**
     * Checks that a lock is not free for long while an operation waits; a dead process keeps the lock for its lease.
     *
     * <p>Permits are free when each operation that waits would fit beside the leases. Which of them the store has first
     * is not known, and a request that does not fit keeps those behind it waiting.
     */
    static void idleness(Recording recording, List<String> violations) {
        if (recording.settings.idleMax == Operation.NEVER) {
            return;
        }
        Map<String, List<Operation>> byLock = new LinkedHashMap<>();
        for (Operation operation : recording.operations) {
            byLock.computeIfAbsent(operation.lock, l -> new ArrayList<>()).add(operation);
        }
        byLock.forEach((lock, operations) -> idle(recording, lock, operations, violations));
    }

    private static void idle(Recording recording, String lock, List<Operation> operations, List<String> violations) {
        // What changes at an instant.
        TreeMap<Long, List<Consumer<Use>>> turns = new TreeMap<>();
        for (Operation operation : operations) {
            long waited = Math.min(Math.min(operation.outcome(), recording.death(operation.process)), recording.ended);
            at(turns, operation.asked, use -> use.waiting.add(operation));
            at(turns, waited, use -> use.waiting.remove(operation));
            if (operation.wasGranted()) {
                at(turns, operation.granted, use -> use.weight += operation.weight);
                at(
                        turns,
                        Math.max(operation.granted, end(recording, operation)),
                        use -> use.weight -= operation.weight);
            }
        }
        Use use = new Use();
        turns.forEach((now, changes) -> {
            boolean wasFree = use.isFree();
            List<Operation> waited = wasFree ? List.copyOf(use.waiting) : List.of();
            changes.forEach(change -> change.accept(use));
            boolean over = !use.isFree();
            for (Operation waiting : waited) {
                long from = Math.max(use.freeSince, waiting.asked);
                if ((over || !use.waiting.contains(waiting)) && now - from > recording.settings.idleMax) {
                    violations.add(lock + " was free for " + Operation.millis(now - from) + " ms while " + waiting
                            + " waited, from " + from);
                    break;
                }
            }
            if (over || !wasFree) {
                use.freeSince = now;
            }
        });
    }

    private static void at(Map<Long, List<Consumer<Use>>> turns, long nanos, Consumer<Use> change) {
        turns.computeIfAbsent(nanos, n -> new ArrayList<>()).add(change);
    }

    /** The holders and the waiters of a name at an instant. */
    private static final class Use {
        final Set<Operation> waiting = new LinkedHashSet<>();
        long weight;

        /** The last instant at which it was not free, as far as that is known. */
        long freeSince;

        /** Returns whether it could be granted to each operation that waits. */
        boolean isFree() {
            return waiting.stream().allMatch(operation -> weight + operation.weight <= operation.capacity);
        }
    }

    /** Returns when other operations can have the lock after this lease. */
    private static long end(Recording recording, Operation granted) {
        long death = recording.death(granted.process);
        long deathAndLease = death == Operation.NEVER ? death : death + recording.settings.lease;
        return Math.min(Math.min(granted.end(), deathAndLease), recording.ended);
    }

    /** Checks that no operation on permits is granted long before one that asked long before it, and still waits. */
    static void order(Recording recording, List<String> violations) {
        long slack = recording.settings.orderSlack;
        if (slack == Operation.NEVER) {
            return;
        }
        for (List<Operation> grants : recording.grants.values()) {
            for (Operation granted : grants) {
                for (Operation waiting : recording.operations) {
                    if (waiting.asked + slack >= granted.asked) {
                        break; // The operations are in the order of their asking.
                    }
                    long until = Math.min(waiting.outcome(), recording.death(waiting.process));
                    if (waiting.capacity > 1
                            && waiting.wait > 0
                            && waiting.lock.equals(granted.lock)
                            && until - slack > granted.granted) {
                        violations.add(waiting + " was overtaken by " + granted + ", which asked "
                                + Operation.millis(granted.asked - waiting.asked) + " ms later");
                        break;
                    }
                }
            }
        }
    }

    /** Returns the largest number of operations that were granted before one that had asked earlier. */
    static int overtakes(Recording recording, List<String> violations) {
        int most = 0;
        for (List<Operation> grants : recording.grants.values()) {
            for (int i = 0; i < grants.size(); i++) {
                Operation waited = grants.get(i);
                int overtakes = 0;
                for (int j = i - 1; j >= 0 && grants.get(j).granted > waited.asked; j--) {
                    if (grants.get(j).asked > waited.asked) {
                        overtakes++;
                    }
                }
                most = Math.max(most, overtakes);
                if (overtakes > recording.settings.overtakesMax) {
                    violations.add(waited + " was overtaken by " + overtakes + " that had asked later");
                }
            }
        }
        return most;
    }
}
