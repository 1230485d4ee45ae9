package io.holdfast.observe;

import static java.lang.System.Logger.Level.INFO;

import io.holdfast.engine.BoundedLog;
import io.holdfast.spi.DurationText;
import io.holdfast.spi.TimeSource;
import java.time.Duration;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Logs each wait that is longer than a minute, when the minute is over and when the wait ends. One timer serves all
 * waiters of a client, as a timer for each would cost every wait.
 *
 * <p>Invariant: until a waiter's minute has been checked, {@link #timer} is set, for no later than the end of that
 * minute (or {@link #AGAIN} after the last check, if that is later).
 */
public final class LongWaits {

    public static final Duration LONG = Duration.ofMinutes(1);

    /** None of the waiters needs another check. */
    public static final long NONE = Long.MAX_VALUE;

    /** Between two checks of the names of a client, of which there may be very many. */
    private static final Duration AGAIN = Duration.ofSeconds(1);

    private final LongSupplier checkNames;
    private final TimeSource time;
    private final BoundedLog lines;
    private final ReentrantLock lock = new ReentrantLock(); // a leaf
    private volatile TimeSource.@Nullable Timer timer; // written by lock
    private long timerNanos; // by lock; when the timer runs, if there is one
    private volatile boolean closed;

    /**
     * @param checkNames checks the waits of all names, and returns when the first of those that are not long yet began,
     *     or {@link #NONE}
     */
    public LongWaits(LongSupplier checkNames, TimeSource time) {
        this.checkNames = checkNames;
        this.time = time;
        lines = new BoundedLog(
                INFO, time, n -> n + " more callers have waited for a lock for " + DurationText.of(LONG));
    }

    /** Notes that a wait began. Runs in every acquire, so it usually reads one field only. */
    public void onWaiting(long arrivedNanos) {
        if (timer == null && !closed) {
            arm(arrivedNanos + LONG.toNanos());
        }
    }

    /** Returns whether a wait that has become long is logged in full. If not, it is counted. */
    public boolean admits() {
        return lines.admits(() -> "A wait for a lock that is longer than " + DurationText.of(LONG));
    }

    /** With no lock of a name held. */
    public void log(String line) {
        lines.write(line);
    }

    public void close() {
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
            timer = time.schedule(atNanos - time.nanoTime(), this::check);
        } finally {
            lock.unlock();
        }
    }

    private void check() {
        lock.lock();
        try {
            // Before the check: a waiter that comes during it is seen, or sets the timer.
            timer = null;
        } finally {
            lock.unlock();
        }
        long next = checkNames.getAsLong();
        if (next != NONE && !closed) {
            arm(Math.max(next + LONG.toNanos(), time.nanoTime() + AGAIN.toNanos()));
        }
    }
}
