package io.holdfast.zookeeper;

import io.holdfast.spi.ClockReading;
import io.holdfast.spi.TimeSource;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Remembers when the commands of a session were sent that the servers have answered: the leader has counted the
 * session's time from then on at the latest.
 *
 * <p>Neither a write nor its commit restarts the leader's count. A server that serves the client notes each contact,
 * and reports its contacts with its answer to the leader's ping, twice a tick. So a contact counts once the server that
 * had it has sent something to the leader half a tick later: a write, on the same connection as the report and after
 * it. Half a tick is a quarter of a session at most, as a session is two ticks at least.
 *
 * <p>A machine that is suspended does not count that time on its monotonic clock, and the leader does. So both clocks
 * say how old a contact is at most, and the monotonic one says how old it is at least. A wall clock that is set forward
 * costs shorter promises until there are contacts after that.
 *
 * <p>Thread-safe. Not final: the simulation has one that is wrong.
 */
class SessionClock {

    /** So many contacts cover half a session, as they are kept a thirty-second of it apart. */
    private static final int KEPT = 17;

    private static final long NANOS_PER_MILLI = 1_000_000;

    private final TimeSource time;
    private final ReentrantLock lock = new ReentrantLock();
    private final @Nullable ClockReading[] sent = new @Nullable ClockReading[KEPT]; // a ring, by lock
    private int next; // the place of the next one, by lock
    private @Nullable ClockReading written; // by lock; when the last write was sent that the leader has answered

    SessionClock(TimeSource time) {
        this.time = time;
    }

    TimeSource time() {
        return time;
    }

    /** Notes that a command which was sent then has been answered. */
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

    /** Notes that a write which was sent then has been answered: the leader has been at work since. */
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
     * Returns how long the session surely lives after a write that is sent now and will be committed: its timeout,
     * counted from the last contact that the leader must know of by then; zero if nothing is sure.
     *
     * <p>At most two thirds of the timeout, for clocks that differ. If there is no such contact, a quarter, as long as
     * the process was not paused: then only pings, which are not seen here, were answered, each third of the timeout;
     * and before the ping that the leader may not know of, there was another no more than half the timeout earlier.
     *
     * @param steady whether the {@link PauseDetector} was, so that there were pings
     */
    long promiseMillis(long timeoutMillis, boolean steady) {
        long least = steady ? timeoutMillis / 4 : 0;
        ClockReading known = lastKnown(timeoutMillis * NANOS_PER_MILLI / 4);
        return known == null
                ? least
                : Math.max(least, Math.min(timeoutMillis * 2 / 3, leftMillis(timeoutMillis, known.mostAgeNanos(time))));
    }

    /** One per cent of the age is for clocks that differ; the receiver of the promise itself shortens it by as much. */
    private static long leftMillis(long timeoutMillis, long ageNanos) {
        return timeoutMillis - (ageNanos + ageNanos / 100) / NANOS_PER_MILLI - 1;
    }

    /** Returns when the last contact was that is at least so old; null if there is none. */
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
