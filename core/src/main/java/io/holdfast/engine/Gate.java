package io.holdfast.engine;

import io.holdfast.spi.StoreException;
import java.util.ArrayDeque;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Limits how many lanes of one pool wait at the store. The others wait here, in their order, and have sent nothing: so a
 * thousand waiters of a client cost the store no more than a few. Thread-safe.
 *
 * <p>Lock order: a lane's lock may be held when this class's lock is taken, never the other way round.
 */
class Gate {

    /** With so many, a client keeps a pool busy although each of its permits takes a round trip. */
    static final int WIDTH = 16;

    /**
     * What the store last said about the pool.
     *
     * @param atNanos when its answer came
     * @param goodNanos when its last good answer came; {@link Long#MIN_VALUE} if none did
     * @param error why the command failed; null after a good answer
     */
    record Heard(long atNanos, long goodNanos, @Nullable StoreException error) {}

    private final ReentrantLock lock = new ReentrantLock();
    private final Set<Lane> inside = new LinkedHashSet<>(); // by lock
    private final Set<Lane> outside = new LinkedHashSet<>(); // by lock

    /** Those that have come inside and do not know it yet. */
    private final Queue<Lane> admitted = new ArrayDeque<>(); // by lock

    private boolean admitting; // by lock
    private volatile @Nullable Heard heard;

    /** Returns whether the lane may send its request now. Otherwise it waits here, until {@link Lane#onAdmitted}. */
    boolean enter(Lane lane) {
        lock.lock();
        try {
            if (inside.contains(lane)) {
                return true;
            }
            if (inside.size() < WIDTH && outside.isEmpty()) {
                return inside.add(lane);
            }
            outside.add(lane);
            return false;
        } finally {
            lock.unlock();
        }
    }

    /** Takes out a lane that asks no more. If that makes room, {@link #admit} is due. */
    void leave(Lane lane) {
        lock.lock();
        try {
            outside.remove(lane);
            if (inside.remove(lane) && !outside.isEmpty()) {
                Lane next = outside.iterator().next();
                outside.remove(next);
                inside.add(next);
                admitted.add(next);
            }
        } finally {
            lock.unlock();
        }
    }

    /**
     * Lets those send that have come inside. A lane may be granted while it sends, and so make room for the next: the
     * outermost call goes on with that one, as a chain of calls could be as long as the queue.
     */
    void admit() {
        for (Lane next = nextAdmitted(); next != null; next = nextAdmitted()) {
            try {
                next.onAdmitted();
            } finally {
                lock.lock();
                try {
                    admitting = false;
                } finally {
                    lock.unlock();
                }
            }
        }
    }

    private @Nullable Lane nextAdmitted() {
        lock.lock();
        try {
            Lane next = admitting ? null : admitted.poll();
            admitting |= next != null;
            return next;
        } finally {
            lock.unlock();
        }
    }

    /** Returns the lanes that wait here, and lets none of them wait any more. */
    List<Lane> drain() {
        lock.lock();
        try {
            List<Lane> drained = List.copyOf(outside);
            outside.clear();
            return drained;
        } finally {
            lock.unlock();
        }
    }

    void onGood(long nowNanos) {
        heard = new Heard(nowNanos, nowNanos, null);
    }

    void onFailed(long nowNanos, StoreException error) {
        Heard before = heard;
        heard = new Heard(nowNanos, before == null ? Long.MIN_VALUE : before.goodNanos, error);
    }

    /** Returns what the store said last; null if it has said nothing yet. */
    @Nullable
    Heard heard() {
        return heard;
    }
}
