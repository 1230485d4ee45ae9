package io.holdfast.zookeeper;

import io.holdfast.spi.TimeSource;
import java.util.concurrent.locks.ReentrantLock;

/**
 * When commands of a session were sent that the servers have answered: from when on the leader has counted the session's
 * time at the latest.
 *
 * <p>Neither a write nor its commit restarts the leader's count. A server that serves the client notes each contact, and
 * reports those with its answer to the leader's ping, twice a tick. So a contact counts once the server that had it has sent
 * something to the leader half a tick later: a write, on the same connection as the report and after it. Half a tick is a
 * quarter of a session at most, as a session is two ticks at least.
 *
 * <p>Thread-safe. Not final: the simulation has one that is wrong.
 */
class Contacts {

    /** So many of them cover half a session, as they are kept a thirty-second of it apart. */
    private static final int KEPT = 17;

    private static final long NANOS_PER_MILLI = 1_000_000;
    private static final long UNKNOWN = -1;

    private final TimeSource time;
    private final ReentrantLock lock = new ReentrantLock();
    private final long[] sentNanos = new long[KEPT]; // a ring, by lock
    private int count; // how many there ever were, by lock
    private boolean hasWritten; // by lock
    private long writtenNanos; // by lock; when the last write was sent that the leader has answered

    Contacts(TimeSource time) {
        this.time = time;
    }

    long nanoTime() {
        return time.nanoTime();
    }

    /** A command that was sent then has been answered. */
    void answered(long nanos, long timeoutMillis) {
        lock.lock();
        try {
            if (count == 0 || nanos - sentNanos[(count - 1) % KEPT] >= timeoutMillis * NANOS_PER_MILLI / 32) {
                sentNanos[count++ % KEPT] = nanos;
            }
        } finally {
            lock.unlock();
        }
    }

    /** A write that was sent then has been answered: since then the leader has been at work. */
    void written(long nanos) {
        lock.lock();
        try {
            if (!hasWritten || nanos - writtenNanos > 0) {
                hasWritten = true;
                writtenNanos = nanos;
            }
        } finally {
            lock.unlock();
        }
    }

    boolean hasWrittenWithin(long nanos) {
        lock.lock();
        try {
            return hasWritten && time.nanoTime() - writtenNanos <= nanos;
        } finally {
            lock.unlock();
        }
    }

    /**
     * For how long the session surely lives after a write that is sent now and will be committed: its timeout, counted from
     * the last contact that the leader must know of by then; zero if nothing is sure.
     *
     * <p>At most two thirds of the timeout, for clocks that differ. If there is none, a quarter, as long as the process was not
     * paused: then only pings, which are not seen here, were answered, each third of the timeout; and before the one that the
     * leader may not know of, there was another no more than half the timeout earlier.
     *
     * @param steady whether the {@link Pulse} was, so that there were pings
     */
    long promiseMillis(long timeoutMillis, boolean steady) {
        long least = steady ? timeoutMillis / 4 : 0;
        long age = ageOfKnown(timeoutMillis * NANOS_PER_MILLI / 4);
        return age == UNKNOWN
                ? least
                : Math.max(least, Math.min(timeoutMillis * 2 / 3, timeoutMillis - age / NANOS_PER_MILLI - 1));
    }

    /** How long ago the last contact was that is at least so old. */
    private long ageOfKnown(long leastNanos) {
        lock.lock();
        try {
            long now = time.nanoTime();
            for (int i = count - 1; i >= Math.max(0, count - KEPT); i--) {
                long age = now - sentNanos[i % KEPT];
                if (age >= leastNanos) {
                    return age;
                }
            }
            return UNKNOWN;
        } finally {
            lock.unlock();
        }
    }
}
