package io.holdfast.log;

import static java.lang.System.Logger.Level.DEBUG;

import io.holdfast.spi.TimeSource;
import java.time.Duration;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongFunction;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Logs lines of one kind at a bounded rate: in each window the first lines in full, and at its end one line with the
 * number of the others. One outage may end ten thousand leases at once, and as many lines would hide all other lines,
 * or fill the disk. Level DEBUG shows the others in full.
 *
 * <p>Invariant: each line was logged in full, or {@link #others} counts it and a timer or {@link #flush} logs that
 * number.
 */
public final class BoundedLog {

    static final int IN_FULL = 10;
    public static final Duration WINDOW = Duration.ofSeconds(10);

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
    public BoundedLog(System.Logger.Level level, TimeSource time, LongFunction<String> summary) {
        this.level = level;
        this.time = time;
        this.summary = summary;
    }

    /** Logs a line in full, or counts it. */
    public void log(Supplier<String> line) {
        log(line, null);
    }

    /** Logs a line with a stack in full, or counts it. */
    public void log(Supplier<String> line, @Nullable Throwable stack) {
        if (admits(line, stack)) {
            Log.LOG.log(level, line, stack);
        }
    }

    /**
     * Takes a place for a line in full, which the caller fills by {@link #write}. If there is none, counts the line and
     * returns false.
     */
    public boolean admits(Supplier<String> line) {
        return admits(line, null);
    }

    private boolean admits(Supplier<String> line, @Nullable Throwable stack) {
        long now = time.nanoTime();
        lock.lock();
        try {
            if (!begun || now - windowNanos >= WINDOW.toNanos()) {
                begun = true;
                windowNanos = now;
                inFull = 0;
            }
            if (inFull < IN_FULL) {
                inFull++;
                return true;
            }
            others++;
            if (timer == null) {
                timer = time.schedule(windowNanos + WINDOW.toNanos() - time.nanoTime(), this::flush);
            }
        } finally {
            lock.unlock();
        }
        Log.LOG.log(DEBUG, line, stack);
        return false;
    }

    /** Logs a line that was admitted. */
    public void write(String line) {
        Log.LOG.log(level, line);
    }

    /** Logs the number of the others, if there are any. */
    public void flush() {
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
