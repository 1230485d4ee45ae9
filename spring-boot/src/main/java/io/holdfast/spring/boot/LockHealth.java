package io.holdfast.spring.boot;

import io.holdfast.LocalLock;
import io.holdfast.LockClient;
import io.holdfast.LockStoreException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * How the locks do: whether the store answers, and whether the leases that are held are renewed in time. Down does not mean that the
 * process should be restarted, which would lose its leases for certain: so not for liveness.
 *
 * @param up whether the store answers and no lease is late
 */
record LockHealth(boolean up, Map<String, Object> details) {

    /** A name that nobody locks. */
    private static final String PROBE = "holdfast:health";

    static LockHealth of(LockClient client) {
        List<LocalLock> held = client.localLocks().stream()
                .filter(lock -> lock.lease().isPresent())
                .toList();
        Map<String, Object> details = new LinkedHashMap<>();
        details.put("store", client.describeStore());
        details.put("held", held.size());
        held.stream()
                .map(lock -> lock.lease().orElseThrow().remaining())
                .min(java.time.Duration::compareTo)
                .ifPresent(least -> details.put("leastRemaining", least.toMillis() + "ms"));
        long late = held.stream()
                .filter(lock -> !lock.lease().orElseThrow().isValid())
                .count();
        if (late > 0) {
            details.put("lost", late);
        }
        try {
            client.inspect(PROBE);
        } catch (LockStoreException e) {
            details.put("error", String.valueOf(e.getMessage()));
            return new LockHealth(false, details);
        }
        return new LockHealth(late == 0, details);
    }
}
