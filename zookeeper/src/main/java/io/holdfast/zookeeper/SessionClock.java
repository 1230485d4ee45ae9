package io.holdfast.zookeeper;

import io.holdfast.spi.ClockReading;
import io.holdfast.spi.TimeSource;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Remembers when the answered commands of a session were sent. The leader restarts its count of the session when it
 * learns of such a contact: no earlier than the command was sent.
 *
 * <p>Neither a write nor its commit restarts the leader's count. The server that serves the client notes each contact,
 * and reports its contacts when it answers the leader's ping, twice a tick. So a contact counts once that server has
 * sent something to the leader half a tick later: a write, which follows the report on the same connection. Half a tick
 * is a quarter of a session at most, as a session has two ticks at least.
 *
 * <p>The monotonic clock of a suspended machine stops, while the leader continues to count. So the greatest possible
 * age of a contact is taken from both clocks, and the least possible age from the monotonic clock alone. A wall clock
 * that is set forward costs shorter promises until there are new contacts.
 *
 * <p>Thread-safe. Not final: the simulation has one that is wrong.
 */
class SessionClock {

    /** The number of contacts that covers half a session, as they are kept a thirty-second of it apart. */
    private static final int KEPT = 17;

    private static final long NANOS_PER_MILLI = 1_000_000;

    private final TimeSource time;
    private final ReentrantLock lock = new ReentrantLock();
    private final @Nullable ClockReading[] sent = new @Nullable ClockReading[KEPT]; // a ring, by lock
    private int next; // the place of the next one, by lock
    private @Nullable ClockReading written; // by lock; when the last answered write was sent

    SessionClock(TimeSource time) {
        this.time = time;
    }

    TimeSource time() {
        return time;
    }

    /** Notes that a command was answered. */
    void answered(ClockReading when, long timeoutMillis) {
        lock.lock();
        try {
            ClockReading last = sent[(next + KEPT - 1) % KEPT];
            if (last == null || when.nanos() - last.nanos() >= timeoutMillis * NANOS_PER_MILLI / 32) {
                sent[next] = when;
                next = (next + 1) % KEPT;
            }
        } finally {
            lock.unlock();
        }
    }

    /** Notes that a write was answered: the leader has worked after it was sent. */
    void written(ClockReading when) {
        lock.lock();
        try {
            if (written == null || when.nanos() - written.nanos() > 0) {
                written = when;
            }
        } finally {
            lock.unlock();
        }
    }

    boolean hasWrittenWithin(long nanos) {
        lock.lock();
        try {
            return written != null && written.mostAgeNanos(time) <= nanos;
        } finally {
            lock.unlock();
        }
    }

    /**
     * Returns how long the session certainly lives after a write that is sent now and will be committed: its timeout,
     * counted from the last contact that the leader must know of by then; zero if nothing is certain.
     *
     * <p>The result is at most two thirds of the timeout, as clocks differ. If there is no such contact, it is a
     * quarter, unless the process was paused. Only pings were answered then, which are not seen here, one each third of
     * the timeout; and before the ping of which the leader may not know, there was another at most half the timeout
     * earlier.
     *
     * @param steady whether the {@link PauseDetector} found no pause, so that there were pings
     */
    long promiseMillis(long timeoutMillis, boolean steady) {
        long least = steady ? timeoutMillis / 4 : 0;
        ClockReading known = lastKnown(timeoutMillis * NANOS_PER_MILLI / 4);
        return known == null
                ? least
                : Math.max(least, Math.min(timeoutMillis * 2 / 3, leftMillis(timeoutMillis, known.mostAgeNanos(time))));
    }

    /** Adds one percent to the age for clocks that differ; the receiver of the promise shortens it by as much. */
    private static long leftMillis(long timeoutMillis, long ageNanos) {
        return timeoutMillis - (ageNanos + ageNanos / 100) / NANOS_PER_MILLI - 1;
    }

    /** Returns the time of the last contact that is at least that old; null if there is none. */
    private @Nullable ClockReading lastKnown(long leastNanos) {
        lock.lock();
        try {
            for (int i = 1; i <= KEPT; i++) {
                ClockReading when = sent[(next + KEPT - i) % KEPT];
                if (when != null && when.leastAgeNanos(time) >= leastNanos) {
                    return when;
                }
            }
            return null;
        } finally {
            lock.unlock();
        }
    }
}
