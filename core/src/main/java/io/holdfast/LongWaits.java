package io.holdfast;

import static java.lang.System.Logger.Level.INFO;

import io.holdfast.spi.DurationText;
import io.holdfast.spi.TimeSource;
import java.time.Duration;
import java.util.Collection;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Logs each wait that is longer than a minute, when the minute is over and when the wait ends. One timer serves all
 * waiters of a client, as a timer for each would cost every wait.
 *
 * <p>Invariant: while a waiter's minute has not been looked at, {@link #timer} is set, for no later than the end of
 * that minute (or {@link #AGAIN} after the last look, if that is later).
 */
final class LongWaits {

    static final Duration LONG = Duration.ofMinutes(1);

    /** None of the waiters needs another look. */
    static final long NONE = Long.MAX_VALUE;

    /** Between two looks at the names of a client, of which there may be very many. */
    private static final Duration AGAIN = Duration.ofSeconds(1);

    private final Collection<NameEngine> names;
    private final TimeSource time;
    private final BoundedLog lines;
    private final ReentrantLock lock = new ReentrantLock(); // a leaf
    private volatile TimeSource.@Nullable Timer timer; // written by lock
    private long timerNanos; // by lock; when the timer runs, if there is one
    private volatile boolean closed;

    LongWaits(Collection<NameEngine> names, TimeSource time) {
        this.names = names;
        this.time = time;
        lines = new BoundedLog(
                INFO, time, n -> n + " more callers have waited for a lock for " + DurationText.of(LONG));
    }

    /** Notes that a wait began. On the way of every acquire, so it reads one field as a rule. */
    void waits(long arrivedNanos) {
        if (timer == null && !closed) {
            arm(arrivedNanos + LONG.toNanos());
        }
    }

    /** Returns whether a wait that has become long is logged in full. If not, it is counted. */
    boolean admits() {
        if (lines.admits()) {
            return true;
        }
        lines.count(() -> "A wait for a lock that is longer than " + DurationText.of(LONG));
        return false;
    }

    /** With no lock of a name held. */
    void log(String line) {
        lines.write(line);
    }

    void close() {
        closed = true;
        lock.lock();
        try {
            if (timer != null) {
                timer.cancel();
                timer = null;
            }
        } finally {
            lock.unlock();
        }
        lines.flush();
    }

    private void arm(long atNanos) {
        lock.lock();
        try {
            if (timer != null && timerNanos - atNanos <= 0) {
                return;
            }
            if (timer != null) {
                timer.cancel();
            }
            timerNanos = atNanos;
            timer = time.schedule(atNanos - time.nanoTime(), this::look);
        } finally {
            lock.unlock();
        }
    }

    private void look() {
        lock.lock();
        try {
            // Before the look: a waiter that comes during it is seen, or sets the timer.
            timer = null;
        } finally {
            lock.unlock();
        }
        long next = NONE;
        for (NameEngine name : names) {
            next = Math.min(next, name.lookAtWaits());
        }
        if (next != NONE && !closed) {
            arm(Math.max(next + LONG.toNanos(), time.nanoTime() + AGAIN.toNanos()));
        }
    }
}
