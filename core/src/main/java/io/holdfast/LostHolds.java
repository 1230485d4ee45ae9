package io.holdfast;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.WeakHashMap;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * What threads lost and have not tried to unlock yet, so that {@code unlock()} can say "lost" rather than "not held".
 *
 * <p>Some code takes a lock with a short lease as a throttle and never unlocks: hence threads are held weakly, and only
 * the last few names are remembered for each.
 */
final class LostHolds {

    private static final int NAMES_PER_THREAD = 64;

    private final ReentrantLock lock = new ReentrantLock();
    private final Map<Thread, Map<String, ActiveLease.Holds>> byThread = new WeakHashMap<>(); // by lock

    void add(Thread thread, String name, ActiveLease.Holds holds) {
        lock.lock();
        try {
            Map<String, ActiveLease.Holds> names = byThread.computeIfAbsent(thread, t -> new LinkedHashMap<>());
            names.remove(name);
            names.put(name, holds);
            if (names.size() > NAMES_PER_THREAD) {
                names.remove(names.keySet().iterator().next());
            }
        } finally {
            lock.unlock();
        }
    }

    /** Counts one unlock of the thread; why the lock was lost, or null if none was. */
    @Nullable
    String unlockBy(Thread thread, String name) {
        lock.lock();
        try {
            Map<String, ActiveLease.Holds> names = byThread.get(thread);
            ActiveLease.Holds holds = names == null ? null : names.get(name);
            if (names == null || holds == null) {
                return null;
            }
            boolean counted = holds.count > 0;
            holds.count--;
            if (holds.count <= 0) {
                names.remove(name);
                if (names.isEmpty()) {
                    byThread.remove(thread);
                }
            }
            return counted ? holds.lostWhy : null;
        } finally {
            lock.unlock();
        }
    }
}
