package io.holdfast.history;

import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Checks the guarded resources. Every operation adds one to the value that it read. So an accepted value is one more
 * than the accepted value before, or an addition was lost.
 */
final class RegisterChecks {

    private RegisterChecks() {}

    /** Checks that a register that compares fencing tokens loses no addition, whatever happens to the locks. */
    static void registers(Recording recording, List<String> violations) {
        Map<String, Event> last = new HashMap<>();
        for (Event event : recording.history.events()) {
            if (event.kind() != Event.Kind.WRITE || !Boolean.parseBoolean(event.text("accepted"))) {
                continue;
            }
            Event before = last.put(event.text("of"), event);
            long expected = before == null ? 1 : before.number("value", 0) + 1;
            if (event.number("value", 0) != expected) {
                violations.add("an addition to " + event.text("of") + " was lost: " + event.who() + " wrote "
                        + event.text("value") + " (expected: " + expected + ")");
            }
            if (before != null && before.number("token", 0) > event.number("token", 0)) {
                violations.add(event.text("of") + " accepted token " + event.text("token") + " of " + event.who()
                        + " after token " + before.text("token"));
            }
        }
    }

    /** Returns how many additions the counters lost that only the lock guards: the damage, not a violation. */
    static long counters(Recording recording) {
        Map<String, Long> writes = new HashMap<>();
        Map<String, Long> values = new HashMap<>();
        for (Event event : recording.history.events()) {
            if (event.kind() == Event.Kind.COUNT) {
                writes.merge(event.text("of"), 1L, Long::sum);
                values.put(event.text("of"), event.number("value", 0));
            }
        }
        long lost = 0;
        for (Map.Entry<String, Long> counter : writes.entrySet()) {
            lost += counter.getValue() - values.getOrDefault(counter.getKey(), 0L);
        }
        return lost;
    }
}
