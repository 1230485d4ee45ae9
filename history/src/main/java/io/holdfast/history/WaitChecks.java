package io.holdfast.history;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

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
     */
    static void idleness(Recording recording, List<String> violations) {
        if (recording.settings.idleMax == Operation.NEVER) {
            return;
        }
        Map<String, List<Operation>> byLock = new HashMap<>();
        for (Operation operation : recording.operations) {
            byLock.computeIfAbsent(operation.lock, l -> new ArrayList<>()).add(operation);
        }
        byLock.forEach((lock, operations) -> idle(recording, lock, operations, violations));
    }

    private static void idle(Recording recording, String lock, List<Operation> operations, List<String> violations) {
        long freeSince = 0;
        List<Operation> grants = recording.grants.getOrDefault(lock, List.of());
        long[] untils = operations.stream()
                .mapToLong(o -> Math.min(o.outcome(), recording.death(o.process)))
                .toArray();
        for (int i = 0; i <= grants.size(); i++) {
            long freeUntil = i < grants.size() ? grants.get(i).granted : recording.ended;
            // The operations are in the order of their asking, so the rest asked later.
            for (int j = 0; j < untils.length && operations.get(j).asked < freeUntil; j++) {
                Operation waiting = operations.get(j);
                long from = Math.max(freeSince, waiting.asked);
                long until = Math.min(freeUntil, untils[j]);
                if (until != Operation.NEVER && until - from > recording.settings.idleMax) {
                    violations.add(lock + " was free for " + Operation.millis(until - from) + " ms while " + waiting
                            + " waited, from " + from);
                    break;
                }
            }
            if (i < grants.size()) {
                freeSince = Math.max(freeSince, end(recording, grants.get(i)));
            }
        }
    }

    /** Returns when other operations can have the lock after this lease. */
    private static long end(Recording recording, Operation granted) {
        long death = recording.death(granted.process);
        long deathAndLease = death == Operation.NEVER ? death : death + recording.settings.lease;
        return Math.min(Math.min(granted.end(), deathAndLease), recording.ended);
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
