package io.holdfast.engine;

import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.WeakHashMap;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Remembers the locks that threads lost and have not unlocked yet, so that {@code unlock()} can say "lost" rather than
 * "not held".
 *
 * <p>Some code takes a lock with a short lease as a throttle and never unlocks it. So threads are held weakly, and only
 * the last few names are remembered for each. A lock that a close of the client left to the work of its thread is always
 * remembered, because a store may wait for its unlock: a thread has no more of these than it held at the close.
 */
public final class LostHolds {

    private static final int NAMES_PER_THREAD = 64;

    /** Counts how often a thread took one name, lost it and has not unlocked it. */
    private static final class Lost {
        private final LeaseUser.Holds latest;
        private final String beforeWhy;
        private long before; // by leases that were lost before the latest was taken

        /** The last of those that was left at a close; null if none was. */
        private final LeaseUser.@Nullable Holds leftBefore;

        Lost(LeaseUser.Holds latest, @Nullable Lost earlier) {
            this.latest = latest;
            before = earlier == null ? 0 : earlier.left();
            beforeWhy = earlier == null ? "" : earlier.latest.lostWhy;
            leftBefore = earlier == null ? null : earlier.latest.isLeft ? earlier.latest : earlier.leftBefore;
        }

        boolean wasLeft() {
            return latest.isLeft || leftBefore != null;
        }

        /** Counts one unlock. Returns why the lock was lost; null if it was unlocked as often as it was taken. */
        @Nullable
        String unlock() {
            if (latest.count > 0) {
                latest.giveBack();
                return latest.lostWhy;
            }
            if (before > 0) {
                before--;
                if (before == 0 && leftBefore != null) {
                    leftBefore.giveAllBack();
                }
                return beforeWhy;
            }
            return null;
        }

        long left() {
            return latest.count + before;
        }
    }

    private final ReentrantLock lock = new ReentrantLock();
    private @Nullable LostHolds ofShares; // by lock
    private final Map<Thread, Map<String, Lost>> byThread = new WeakHashMap<>(); // by lock

    /** Returns those of read-write locks, whose names have nothing to do with those of locks. */
    LostHolds ofShares() {
        lock.lock();
        try {
            if (ofShares == null) {
                ofShares = new LostHolds();
            }
            return ofShares;
        } finally {
            lock.unlock();
        }
    }

    void add(Thread thread, String name, LeaseUser.Holds holds) {
        lock.lock();
        try {
            Map<String, Lost> names = byThread.computeIfAbsent(thread, t -> new LinkedHashMap<>());
            names.put(name, new Lost(holds, names.remove(name)));
            if (names.size() > NAMES_PER_THREAD && !holds.isLeft) {
                dropFirst(names.values().iterator());
            }
        } finally {
            lock.unlock();
        }
    }

    private static void dropFirst(Iterator<Lost> names) {
        while (names.hasNext()) {
            if (!names.next().wasLeft()) {
                names.remove();
                return;
            }
        }
    }

    /** Counts one unlock of the thread. Returns why the lock was lost; null if the thread lost none. */
    @Nullable
    String unlockBy(Thread thread, String name) {
        lock.lock();
        try {
            Map<String, Lost> names = byThread.get(thread);
            Lost lost = names == null ? null : names.get(name);
            if (names == null || lost == null) {
                return null;
            }
            String why = lost.unlock();
            if (lost.left() == 0) {
                names.remove(name);
                if (names.isEmpty()) {
                    byThread.remove(thread);
                }
            }
            return why;
        } finally {
            lock.unlock();
        }
    }
}
