package io.holdfast.zookeeper;

import io.holdfast.spi.ClockReading;
import io.holdfast.spi.TimeSource;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;

/**
 * Detects long pauses of this process. A pause makes a timer late on at least one of the two clocks; the monotonic
 * clock stops while the machine is suspended. Without a pause, ZooKeeper's own thread has sent its pings. Nothing else
 * shows that, not even the connection: after a pause of up to a whole session it may still be open, if anything waited
 * in the socket.
 */
final class PauseDetector {

    private static final long NANOS_PER_MILLI = 1_000_000;

    /** The interval until the session's timeout is known, which may be much shorter than requested. */
    private static final long FIRST_NANOS = 50 * NANOS_PER_MILLI;

    private final TimeSource time;
    private final LongSupplier timeoutMillis;
    private final StoppableTimer timer;
    private final ReentrantLock lock = new ReentrantLock();
    private ClockReading armed; // by lock; when the timer was set
    private volatile long knownNanos; // written by lock; the session's timeout, zero before the first one
    private long pauseNanos; // by lock; how long the last pause was, zero if there was none
    private long pauseEndNanos; // by lock

    /** @param timeoutMillis of the session, zero as long as it is not known */
    PauseDetector(TimeSource time, LongSupplier timeoutMillis) {
        this.time = time;
        this.timeoutMillis = timeoutMillis;
        this.timer = new StoppableTimer(time);
        armed = ClockReading.now(time);
        next();
    }

    /** Returns whether there was no pause of a sixth of a session in the last three quarters of one. */
    boolean isSteady() {
        lock.lock();
        try {
            // A timer that was set for a longer session says nothing about a pause before it.
            long late = lateNanos();
            // The time since a pause must certainly be that long, so the monotonic clock alone counts.
            return armed.mostAgeNanos(time) < late
                    && (pauseNanos < late || time.nanoTime() - pauseEndNanos > knownNanos * 3 / 4);
        } finally {
            lock.unlock();
        }
    }

    void stop() {
        timer.stop();
    }

    private void beat() {
        lock.lock();
        try {
            long late = lateNanos();
            // Read once: a pause between two readings would be part of neither age.
            ClockReading now = ClockReading.now(time);
            long age = armed.mostAgeNanos(now);
            armed = now;
            // Before there is a session, it is not known which pause is long for it. So the longest pause is kept, and
            // the end of the last one.
            if (age >= (knownNanos == 0 ? 2 * FIRST_NANOS : late)) {
                pauseNanos = knownNanos == 0 ? Math.max(pauseNanos, age) : age;
                pauseEndNanos = now.nanos();
            }
        } finally {
            lock.unlock();
        }
        next();
    }

    /** Returns the age at which a timer is late, for the present session. The caller has the lock. */
    private long lateNanos() {
        long agreed = timeoutMillis.getAsLong();
        if (agreed > 0) {
            knownNanos = agreed * NANOS_PER_MILLI;
        }
        return knownNanos / 32 + knownNanos / 8;
    }

    private void next() {
        long known = knownNanos;
        timer.set(known == 0 ? FIRST_NANOS : known / 32, this::beat);
    }
}
