package io.holdfast.zookeeper;

import io.holdfast.spi.ClockReading;
import io.holdfast.spi.TimeSource;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Says whether this process has run without a long pause: a timer that comes late was kept from coming, by either clock, as a
 * machine that is suspended stops the monotonic one. While it runs, ZooKeeper's
 * own thread sends its pings; that cannot be seen otherwise, also not by the connection: after a pause of up to a whole session it
 * stands, if anything waited in the socket.
 */
final class PauseDetector {

    private static final long NANOS_PER_MILLI = 1_000_000;

    /** As long as the session's timeout is not known: it may be much shorter than was wanted. */
    private static final long FIRST_NANOS = 50 * NANOS_PER_MILLI;

    private final TimeSource time;
    private final LongSupplier timeoutMillis;
    private final ReentrantLock lock = new ReentrantLock();
    private ClockReading armed; // by lock; the timer
    private long knownNanos; // by lock; the session's timeout, zero before the first one
    private long pauseNanos; // by lock; how long the last pause was, zero if there was none
    private long pauseEndNanos; // by lock
    private volatile boolean stopped;
    private volatile TimeSource.@Nullable Timer timer;

    /** @param timeoutMillis of the session, zero as long as it is not known */
    PauseDetector(TimeSource time, LongSupplier timeoutMillis) {
        this.time = time;
        this.timeoutMillis = timeoutMillis;
        armed = ClockReading.now(time);
        next();
    }

    /** Whether there was no pause of a sixth of a session in the last three quarters of one. */
    boolean isSteady() {
        lock.lock();
        try {
            // A timer that was armed for a longer session says nothing about a pause before it.
            long late = lateNanos();
            // How long ago a pause was must be surely so long, so that is by the monotonic clock alone.
            return armed.mostAgeNanos(time) < late
                    && (pauseNanos < late || time.nanoTime() - pauseEndNanos > knownNanos * 3 / 4);
        } finally {
            lock.unlock();
        }
    }

    void stop() {
        stopped = true;
        TimeSource.Timer present = timer;
        if (present != null) {
            present.cancel();
        }
    }

    private void beat() {
        lock.lock();
        try {
            long late = lateNanos();
            // Read once: a pause between two readings would be in neither age.
            ClockReading now = ClockReading.now(time);
            long age = armed.mostAgeNanos(now);
            armed = now;
            // Before there is a session nobody can say what is long for it: the longest pause is kept, and the end of
            // the last.
            if (age >= (knownNanos == 0 ? 2 * FIRST_NANOS : late)) {
                pauseNanos = knownNanos == 0 ? Math.max(pauseNanos, age) : age;
                pauseEndNanos = now.nanos();
            }
        } finally {
            lock.unlock();
        }
        next();
    }

    /** By the lock's holder. How old a timer is that is late, as the session is now. */
    private long lateNanos() {
        long agreed = timeoutMillis.getAsLong();
        if (agreed > 0) {
            knownNanos = agreed * NANOS_PER_MILLI;
        }
        return knownNanos / 32 + knownNanos / 8;
    }

    private void next() {
        if (stopped) {
            return;
        }
        long nanos;
        lock.lock();
        try {
            nanos = knownNanos == 0 ? FIRST_NANOS : knownNanos / 32;
        } finally {
            lock.unlock();
        }
        timer = time.schedule(nanos, this::beat);
        if (stopped) {
            stop();
        }
    }
}
