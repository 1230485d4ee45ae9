package io.holdfast.history;

import java.util.List;

/**
 * The result of checking a history.
 *
 * @param operations how many operations asked for a lock
 * @param granted how many were granted the lock
 * @param timedOut how many timed out
 * @param withdrawn how many were interrupted or cancelled
 * @param failed how many ended with an error
 * @param lost leases that were lost before they were released
 * @param died processes that were killed
 * @param accepted writes that a register with fencing tokens accepted
 * @param rejected writes that it rejected: prevented damage
 * @param damage additions that a counter without a guard lost
 * @param overtakes the largest number of operations that were granted before one that had asked earlier
 * @param longestWaitNanos the longest wait that ended with a grant
 * @param violations the violations, each a sentence; empty if there are none
 * @see <a href="https://github.com/holdfast-lock/holdfast/blob/main/docs/verification.md#2-checker-of-histories">
 *     Checker of histories</a>
 */
public record Findings(
        long operations,
        long granted,
        long timedOut,
        long withdrawn,
        long failed,
        long lost,
        long died,
        long accepted,
        long rejected,
        long damage,
        int overtakes,
        long longestWaitNanos,
        List<String> violations) {

    public Findings {
        violations = List.copyOf(violations);
    }

    /** Returns whether there are no violations. */
    public boolean held() {
        return violations.isEmpty();
    }

    static Findings of(Recording recording, int overtakes, long damage, List<String> violations) {
        List<Operation> operations = recording.operations;
        List<Event> events = recording.history.events();
        return new Findings(
                operations.size(),
                operations.stream().filter(Operation::wasGranted).count(),
                operations.stream().filter(o -> o.why.equals("timeout")).count(),
                operations.stream().filter(o -> o.why.equals("withdrawn")).count(),
                operations.stream().filter(o -> o.why.equals("failed")).count(),
                operations.stream().filter(o -> o.lost != Operation.NEVER).count(),
                events.stream().filter(e -> e.kind() == Event.Kind.DIED).count(),
                writes(events, true),
                writes(events, false),
                damage,
                overtakes,
                operations.stream()
                        .filter(Operation::wasGranted)
                        .mapToLong(o -> o.granted - o.asked)
                        .max()
                        .orElse(0),
                violations);
    }

    private static long writes(List<Event> events, boolean accepted) {
        return events.stream()
                .filter(e -> e.kind() == Event.Kind.WRITE && Boolean.parseBoolean(e.text("accepted")) == accepted)
                .count();
    }
}
