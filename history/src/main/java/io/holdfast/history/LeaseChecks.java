package io.holdfast.history;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Checks the leases. */
final class LeaseChecks {

    private LeaseChecks() {}

    /** Checks that no two leases on one lock were certainly valid at the same time. */
    static void exclusion(Recording recording, List<String> violations) {
        for (List<Operation> grants : recording.grants.values()) {
            // The leases that were granted before the present one and may still be valid.
            List<Operation> open = new ArrayList<>();
            for (Operation present : grants) {
                open.removeIf(earlier -> earlier.validUntil <= present.granted);
                for (Operation earlier : open) {
                    overlap(recording, earlier, present, violations);
                }
                if (present.validUntil > present.granted) {
                    open.add(present);
                }
            }
        }
    }

    private static void overlap(Recording recording, Operation one, Operation other, List<String> violations) {
        long until = Math.min(one.validUntil, other.validUntil);
        if (until <= other.granted) {
            return;
        }
        long forgot = recording.forgottenBetween(one, other);
        if (forgot == Operation.NEVER) {
            violations.add("two valid leases for " + Operation.millis(until - other.granted) + " ms: " + one + " and "
                    + other + ", from " + other.granted);
            return;
        }
        // The store lost one of the two. Its owner learns that by the next renewal, or at the end of the lease; unless
        // the store loses the other one before: a quorum then renews the first again.
        long length = recording.settings.lease;
        for (Operation operation : List.of(one, other)) {
            if (operation.lease != Operation.NEVER) {
                length = Math.max(length, operation.lease);
            }
        }
        if (until > recording.noticed(one.lock, forgot, length)) {
            violations.add("a loss that was not noticed: " + one + " and " + other + " were both valid "
                    + Operation.millis(until - forgot) + " ms after the store had forgotten one of them");
        }
    }

    /**
     * Checks that tokens grow in the order of the grants, and that no token is used twice, even after a loss of data.
     */
    static void tokens(Recording recording, List<String> violations) {
        for (Map.Entry<String, List<Operation>> lock : recording.grants.entrySet()) {
            Operation highest = null;
            for (Operation present : lock.getValue()) {
                if (present.token < 0) {
                    continue;
                }
                if (highest != null && present.token == highest.token) {
                    violations.add("the same token twice: " + highest + " and " + present);
                } else if (highest != null
                        && present.token < highest.token
                        && present.wasSeenValid()
                        && recording.forgottenBetween(highest, present) == Operation.NEVER) {
                    violations.add("a token that is not larger: " + present + " came after " + highest);
                }
                if (highest == null || present.token > highest.token) {
                    highest = present;
                }
            }
        }
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
