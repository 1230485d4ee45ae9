package io.holdfast.samples.recipes;

import io.holdfast.Lease;
import io.holdfast.LockClient;
import io.holdfast.MultiLease;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ThreadLocalRandom;
import java.util.stream.IntStream;

/**
 * Admits a limited number of holders on a store that has no permits, by one lock for each. Also readers and one writer,
 * by the same locks.
 */
final class Permits {

    private final LockClient locks;
    private final List<String> names;

    Permits(LockClient locks, String name, int permits) {
        this.locks = locks;
        this.names = IntStream.range(0, permits).mapToObj(i -> name + ":" + i).toList();
    }

    /** Takes one permit. */
    Lease acquire() throws InterruptedException {
        int first = ThreadLocalRandom.current().nextInt(names.size());
        for (int i = 0; i < names.size(); i++) {
            Optional<Lease> permit = locks.tryAcquire(names.get((first + i) % names.size()));
            if (permit.isPresent()) {
                return permit.get();
            }
        }
        return locks.acquire(names.get(first));
    }

    /** Takes all permits, as a writer does that no reader may meet. */
    MultiLease acquireAll() throws InterruptedException {
        return locks.acquireAll(names);
    }
}
