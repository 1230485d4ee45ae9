package io.holdfast.history;

import java.util.List;

/**
 * What a history came to.
 *
 * @param operations how many asked for a lock
 * @param granted how many got it
 * @param timedOut how many waited in vain
 * @param withdrawn how many gave up, interrupted or cancelled
 * @param failed how many got an error
 * @param lost leases that were lost before they were released
 * @param died processes that were killed
 * @param accepted writes that a register with fencing tokens accepted
 * @param rejected writes that it rejected: damage that was prevented
 * @param damage additions that a counter without a guard lost
 * @param overtakes the most that were served before one that had asked before them
 * @param longestWaitNanos the longest wait that was granted in the end
 * @param violations what must not be, each a sentence; empty if all is well
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

    /** Whether nothing is wrong. */
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
