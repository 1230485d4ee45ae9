package io.holdfast.history;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/** Checks the leases. */
final class LeaseChecks {

    private LeaseChecks() {}

    /**
     * A lease beside a younger one: the two were valid at the same time.
     *
     * @param from since when that is not excused
     * @param forgot when the store forgot one of the two; {@link Operation#NEVER} if it did not
     */
    private record Beside(Operation older, long from, long until, long forgot) {}

    /**
     * Checks that the leases that were certainly valid at the same time never weighed more than the youngest of them
     * allows; for a lock, two weigh too much. The youngest decides: the store compared its capacity with all leases that
     * were there, and a lower capacity of a later one would end none of them.
     */
    static void capacity(Recording recording, List<String> violations) {
        for (List<Operation> grants : recording.grants.values()) {
            Map<Operation, List<Beside>> pairs = new LinkedHashMap<>();
            // The leases that were granted before the present one and may still be valid.
            List<Operation> open = new ArrayList<>();
            for (Operation present : grants) {
                open.removeIf(earlier -> earlier.validUntil <= present.granted);
                for (Operation earlier : open) {
                    pair(recording, earlier, present, pairs);
                }
                if (present.validUntil > present.granted) {
                    open.add(present);
                    pairs.computeIfAbsent(present, p -> new ArrayList<>());
                }
            }
            pairs.forEach((youngest, beside) -> weigh(youngest, capacity(youngest, grants), beside, violations));
        }
    }

    private static void pair(
            Recording recording, Operation earlier, Operation present, Map<Operation, List<Beside>> pairs) {
        // A grant may be recorded late, so the order is that of the tokens.
        boolean inOrder = earlier.token < 0 || present.token < 0 || earlier.token < present.token;
        Operation older = inOrder ? earlier : present;
        long from = present.granted;
        long until = Math.min(earlier.validUntil, present.validUntil);
        long forgot = recording.forgottenBetween(earlier, present);
        if (forgot != Operation.NEVER) {
            // The store lost one of the two. Its owner learns that by the next renewal, or at the end of the lease;
            // unless the store loses the other one before: a quorum then renews the first again.
            long length = recording.settings.lease;
            for (Operation operation : List.of(earlier, present)) {
                if (operation.lease != Operation.NEVER) {
                    length = Math.max(length, operation.lease);
                }
            }
            from = Math.max(from, recording.noticed(present.lock, forgot, length));
        }
        if (until > from) {
            pairs.computeIfAbsent(inOrder ? present : earlier, p -> new ArrayList<>())
                    .add(new Beside(older, from, until, forgot));
        }
    }

    /** Returns how much all leases may weigh when this is the youngest of them, as nobody knows it without tokens. */
    private static long capacity(Operation youngest, List<Operation> grants) {
        return youngest.token >= 0
                ? youngest.capacity
                : grants.stream().mapToLong(o -> o.capacity).max().orElse(1);
    }

    private static void weigh(Operation youngest, long capacity, List<Beside> beside, List<String> violations) {
        beside.sort(Comparator.comparingLong(Beside::from));
        for (Beside one : beside) {
            List<Beside> then = beside.stream()
                    .filter(other -> other.from <= one.from && other.until > one.from)
                    .toList();
            long weight = youngest.weight
                    + then.stream().mapToLong(other -> other.older.weight).sum();
            if (weight > capacity) {
                violations.add(capacity == 1 ? tooMany(youngest, one) : tooHeavy(youngest, weight, capacity, then));
                return;
            }
        }
    }

    private static String tooMany(Operation youngest, Beside one) {
        return one.forgot == Operation.NEVER
                ? "two valid leases for " + Operation.millis(one.until - one.from) + " ms: " + one.older + " and "
                        + youngest + ", from " + one.from
                : "a loss that was not noticed: " + one.older + " and " + youngest + " were both valid "
                        + Operation.millis(one.until - one.forgot) + " ms after the store had forgotten one of them";
    }

    private static String tooHeavy(Operation youngest, long weight, long capacity, List<Beside> then) {
        long from = then.stream().mapToLong(Beside::from).max().orElse(youngest.granted);
        long until = then.stream().mapToLong(Beside::until).min().orElse(youngest.validUntil);
        String forgotten = then.stream().anyMatch(one -> one.forgot != Operation.NEVER)
                ? ", some of which the store had forgotten a lease before"
                : "";
        return "valid leases of weight " + weight + " (at most: " + capacity + ") for "
                + Operation.millis(until - from) + " ms: "
                + then.stream().map(one -> one.older.toString()).collect(Collectors.joining(", ")) + " and " + youngest
                + forgotten + ", from " + from;
    }

    /**
     * Checks that tokens grow in the order of the grants, and that no token is used twice, even after a loss of data.
     * Between two readers there is no order, as several share what the store granted to the first.
     */
    static void tokens(Recording recording, List<String> violations) {
        for (List<Operation> grants : recording.grants.values()) {
            Map<Long, Operation> seen = new HashMap<>();
            Operation highest = null;
            Operation highestUnshared = null;
            for (Operation present : grants) {
                if (present.token < 0) {
                    continue;
                }
                Operation before = present.shared ? highestUnshared : highest;
                Operation same = seen.putIfAbsent(present.token, present);
                if (same != null) {
                    violations.add("the same token twice: " + same + " and " + present);
                } else if (before != null
                        && present.token < before.token
                        && follows(present, before)
                        && recording.forgottenBetween(before, present) == Operation.NEVER) {
                    violations.add("a token that is not larger: " + present + " came after " + before);
                }
                if (!present.shared && (highestUnshared == null || present.token > highestUnshared.token)) {
                    highestUnshared = present;
                }
                if (highest == null || present.token > highest.token) {
                    highest = present;
                }
            }
        }
    }

    /** Returns whether the store granted it after the other one, and not only that was recorded later. */
    private static boolean follows(Operation present, Operation highest) {
        return (present.isExclusive() && highest.isExclusive())
                ? present.wasSeenValid()
                : present.asked >= highest.granted;
    }

    /** Checks that no lease of fixed length was valid for longer. */
    static void fixedLeases(Recording recording, List<String> violations) {
        for (Operation operation : recording.operations) {
            if (operation.wasGranted()
                    && operation.lease != Operation.NEVER
                    && operation.validUntil - operation.granted > operation.lease) {
                violations.add(
                        operation + " was valid for " + Operation.millis(operation.validUntil - operation.granted)
                                + " ms with a lease of " + Operation.millis(operation.lease) + " ms");
            }
        }
    }
}
