package io.holdfast.zookeeper;

import io.holdfast.spi.TimeSource;
import org.jspecify.annotations.Nullable;

/**
 * How long a node may stay. ZooKeeper keeps a node for as long as its session; a lease that ends sooner, and a waiter that
 * does not ask any more, are ended by this client.
 *
 * <p>Changed in the contender's turn only.
 */
final class Lifetime {

    private static final long NANOS_PER_MILLI = 1_000_000;
    private static final long ASK_AGAIN_NANOS = 1_000 * NANOS_PER_MILLI;

    private final TimeSource time;
    private final Runnable look;
    private volatile long endNanos;
    private volatile boolean stopped;
    private long timerNanos; // when the timer runs, if there is one
    private volatile TimeSource.@Nullable Timer timer;

    /** @param look wanted when the time has come, or was put off meanwhile */
    Lifetime(TimeSource time, Runnable look) {
        this.time = time;
        this.look = look;
        this.endNanos = time.nanoTime();
    }

    /** From now on. */
    void last(long millis) {
        endNanos = time.nanoTime() + millis * NANOS_PER_MILLI;
        TimeSource.Timer armed = timer;
        if (armed != null && endNanos - timerNanos < 0) {
            armed.cancel();
            timer = null;
        }
        if (timer == null) {
            arm(endNanos);
        }
    }

    void lastAtLeast(long millis) {
        if (time.nanoTime() + millis * NANOS_PER_MILLI - endNanos > 0) {
            last(millis);
        }
    }

    boolean isOver() {
        return time.nanoTime() - endNanos >= 0;
    }

    long remainingMillis() {
        return Math.max(0, (endNanos - time.nanoTime()) / NANOS_PER_MILLI);
    }

    /** The timer came, and it is not over yet. */
    void goOn() {
        arm(endNanos);
    }

    /** The end could not be made. */
    void askAgain() {
        arm(time.nanoTime() + ASK_AGAIN_NANOS);
    }

    void stop() {
        stopped = true;
        TimeSource.Timer armed = timer;
        if (armed != null) {
            armed.cancel();
        }
    }

    private void arm(long atNanos) {
        if (stopped) {
            return;
        }
        timerNanos = atNanos;
        timer = time.schedule(atNanos - time.nanoTime(), look);
        if (stopped) {
            stop();
        }
    }
}
