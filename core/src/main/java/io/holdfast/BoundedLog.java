package io.holdfast;

import static java.lang.System.Logger.Level.DEBUG;

import io.holdfast.spi.TimeSource;
import java.time.Duration;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongFunction;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Logs lines of one kind at a bounded rate: in each window the first ones in full, and the number of the others in one
 * line at its end. One outage may end ten thousand leases at once, and as many lines would hide all others, or fill
 * the disk. The others are still there in full on level DEBUG.
 *
 * <p>Invariant: each line was logged in full, or is in {@link #others} with a timer or {@link #flush} to log that number.
 */
final class BoundedLog {

    static final int IN_FULL = 10;
    static final Duration WINDOW = Duration.ofSeconds(10);

    private final System.Logger.Level level;
    private final TimeSource time;
    private final LongFunction<String> summary;
    private final ReentrantLock lock = new ReentrantLock(); // a leaf: nothing is called under it but the time source
    private boolean begun; // by lock
    private long windowNanos; // by lock; when the present window began
    private int inFull; // by lock; lines of the present window
    private long others; // by lock; lines that were not logged in full
    private TimeSource.@Nullable Timer timer; // by lock; there is one if there are others

    /** @param summary the line for this number of others */
    BoundedLog(System.Logger.Level level, TimeSource time, LongFunction<String> summary) {
        this.level = level;
        this.time = time;
        this.summary = summary;
    }

    /** Logs a line in full, or counts it. */
    void log(Supplier<String> line) {
        log(line, null);
    }

    /** Logs a line with a stack in full, or counts it. */
    void log(Supplier<String> line, @Nullable Throwable stack) {
        if (admits()) {
            Log.LOG.log(level, line, stack);
        } else {
            count(line, stack);
        }
    }

    /** Takes a place among the lines in full, which the caller then fills by {@link #write}; false if there is none. */
    boolean admits() {
        long now = time.nanoTime();
        lock.lock();
        try {
            if (!begun || now - windowNanos >= WINDOW.toNanos()) {
                begun = true;
                windowNanos = now;
                inFull = 0;
            }
            if (inFull >= IN_FULL) {
                return false;
            }
            inFull++;
            return true;
        } finally {
            lock.unlock();
        }
    }

    /** Logs a line that was admitted. */
    void write(String line) {
        Log.LOG.log(level, line);
    }

    /** Counts a line that was not admitted. */
    void count(Supplier<String> line) {
        count(line, null);
    }

    private void count(Supplier<String> line, @Nullable Throwable stack) {
        lock.lock();
        try {
            others++;
            if (timer == null) {
                timer = time.schedule(windowNanos + WINDOW.toNanos() - time.nanoTime(), this::flush);
            }
        } finally {
            lock.unlock();
        }
        Log.LOG.log(DEBUG, line, stack);
    }

    /** Logs the number of the others, if there are any. */
    void flush() {
        long number;
        lock.lock();
        try {
            number = others;
            others = 0;
            if (timer != null) {
                timer.cancel();
                timer = null;
            }
        } finally {
            lock.unlock();
        }
        if (number > 0) {
            write(summary.apply(number));
        }
    }
}
