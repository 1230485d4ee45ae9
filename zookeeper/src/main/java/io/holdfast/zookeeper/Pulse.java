package io.holdfast.zookeeper;

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
final class Pulse {

    private static final long NANOS_PER_MILLI = 1_000_000;

    private final TimeSource time;
    private final LongSupplier timeoutMillis;
    private final ReentrantLock lock = new ReentrantLock();
    private Moment due; // by lock
    private boolean paused; // by lock; whether it ever was
    private long pauseEndNanos; // by lock; if so, the last time
    private volatile boolean stopped;
    private volatile TimeSource.@Nullable Timer timer;

    /** @param timeoutMillis of the session, as far as it is known */
    Pulse(TimeSource time, LongSupplier timeoutMillis) {
        this.time = time;
        this.timeoutMillis = timeoutMillis;
        due = Moment.now(time);
        next();
    }

    /** Whether there was no pause of a sixth of a session in the last three quarters of one. */
    boolean isSteady() {
        lock.lock();
        try {
            long now = time.nanoTime();
            long timeout = timeoutMillis.getAsLong() * NANOS_PER_MILLI;
            // How long ago a pause was must be surely so long, so that is by the monotonic clock alone.
            return due.mostAgeNanos(time) < timeout / 8 && (!paused || now - pauseEndNanos > timeout * 3 / 4);
        } finally {
            lock.unlock();
        }
    }

    void stop() {
        stopped = true;
        TimeSource.Timer armed = timer;
        if (armed != null) {
            armed.cancel();
        }
    }

    private void beat() {
        lock.lock();
        try {
            if (due.mostAgeNanos(time) >= timeoutMillis.getAsLong() * NANOS_PER_MILLI / 8) {
                paused = true;
                pauseEndNanos = time.nanoTime();
            }
        } finally {
            lock.unlock();
        }
        next();
    }

    private void next() {
        if (stopped) {
            return;
        }
        long nanos = timeoutMillis.getAsLong() * NANOS_PER_MILLI / 32;
        lock.lock();
        try {
            due = Moment.now(time).plusNanos(nanos);
        } finally {
            lock.unlock();
        }
        timer = time.schedule(nanos, this::beat);
        if (stopped) {
            stop();
        }
    }
}
