package io.holdfast.zookeeper;

import io.holdfast.spi.ClockReading;
import io.holdfast.spi.TimeSource;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * When commands of a session were sent that the servers have answered: from when on the leader has counted the session's
 * time at the latest.
 *
 * <p>Neither a write nor its commit restarts the leader's count. A server that serves the client notes each contact, and
 * reports those with its answer to the leader's ping, twice a tick. So a contact counts once the server that had it has sent
 * something to the leader half a tick later: a write, on the same connection as the report and after it. Half a tick is a
 * quarter of a session at most, as a session is two ticks at least.
 *
 * <p>A machine that is suspended does not count that time on its monotonic clock, and the leader does. So how old a contact is at
 * most say both clocks, and how old it is at least says the monotonic one. A wall clock that is set forward costs shorter promises until
 * there are contacts after that.
 *
 * <p>Thread-safe. Not final: the simulation has one that is wrong.
 */
class SessionClock {

    /** So many of them cover half a session, as they are kept a thirty-second of it apart. */
    private static final int KEPT = 17;

    private static final long NANOS_PER_MILLI = 1_000_000;
    private static final long UNKNOWN = -1;

    private final TimeSource time;
    private final ReentrantLock lock = new ReentrantLock();
    private final @Nullable ClockReading[] sent = new @Nullable ClockReading[KEPT]; // a ring, by lock
    private int next; // where the next one goes, by lock
    private @Nullable ClockReading written; // by lock; when the last write was sent that the leader has answered

    SessionClock(TimeSource time) {
        this.time = time;
    }

    TimeSource time() {
        return time;
    }

    /** A command that was sent then has been answered. */
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

    /** A write that was sent then has been answered: since then the leader has been at work. */
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
     * For how long the session surely lives after a write that is sent now and will be committed: its timeout, counted from
     * the last contact that the leader must know of by then; zero if nothing is sure.
     *
     * <p>At most two thirds of the timeout, for clocks that differ. If there is none, a quarter, as long as the process was not
     * paused: then only pings, which are not seen here, were answered, each third of the timeout; and before the one that the
     * leader may not know of, there was another no more than half the timeout earlier.
     *
     * @param steady whether the {@link PauseDetector} was, so that there were pings
     */
    long promiseMillis(long timeoutMillis, boolean steady) {
        long least = steady ? timeoutMillis / 4 : 0;
        long age = ageOfKnown(timeoutMillis * NANOS_PER_MILLI / 4);
        return age == UNKNOWN
                ? least
                : Math.max(least, Math.min(timeoutMillis * 2 / 3, leftMillis(timeoutMillis, age)));
    }

    /** One per cent of the age is for clocks that differ; the promise itself is shortened so by who gets it. */
    private static long leftMillis(long timeoutMillis, long ageNanos) {
        return timeoutMillis - (ageNanos + ageNanos / 100) / NANOS_PER_MILLI - 1;
    }

    /** How long ago, at most, the last contact was that is so old, at least. */
    private long ageOfKnown(long leastNanos) {
        lock.lock();
        try {
            for (int i = 1; i <= KEPT; i++) {
                ClockReading when = sent[(next + KEPT - i) % KEPT];
                if (when != null && when.leastAgeNanos(time) >= leastNanos) {
                    return when.mostAgeNanos(time);
                }
            }
            return UNKNOWN;
        } finally {
            lock.unlock();
        }
    }
}
