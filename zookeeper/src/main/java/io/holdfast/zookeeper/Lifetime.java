package io.holdfast.zookeeper;

import io.holdfast.spi.TimeSource;

/**
 * Limits how long a node stays. ZooKeeper keeps a node for as long as its session. So this client itself ends a lease
 * that is over sooner, and a waiter that no longer asks.
 *
 * <p>Only the work of the contender's {@link SerialQueue} changes it.
 */
final class Lifetime {

    private static final long NANOS_PER_MILLI = 1_000_000;
    private static final long RETRY_NANOS = 1_000 * NANOS_PER_MILLI;

    private final TimeSource time;
    private final Runnable onDue;
    private final StoppableTimer timer;
    private volatile long endNanos;
    private boolean armed;
    private long timerNanos; // when the timer runs, if it is armed

    /** @param onDue runs at the end, even if the end was postponed */
    Lifetime(TimeSource time, Runnable onDue) {
        this.time = time;
        this.onDue = onDue;
        this.timer = new StoppableTimer(time);
        this.endNanos = time.nanoTime();
    }

    /** Sets the end, counted from now. */
    void last(long millis) {
        endNanos = time.nanoTime() + millis * NANOS_PER_MILLI;
        if (armed && endNanos - timerNanos < 0) {
            timer.cancel();
            armed = false;
        }
        if (!armed) {
            arm(endNanos);
        }
    }

    /**
     * Sets the end, counted from now, unless it is later already. The timer is armed afterwards, also for an end at
     * once.
     */
    void lastAtLeast(long millis) {
        if (time.nanoTime() + millis * NANOS_PER_MILLI - endNanos >= 0) {
            last(millis);
        }
    }

    boolean isOver() {
        return time.nanoTime() - endNanos >= 0;
    }

    long remainingMillis() {
        return Math.max(0, (endNanos - time.nanoTime()) / NANOS_PER_MILLI);
    }

    /** Re-arms the timer: the end was postponed. */
    void rearm() {
        arm(endNanos);
    }

    /** Re-arms the timer for a retry: the node could not be deleted. */
    void tryAgain() {
        arm(time.nanoTime() + RETRY_NANOS);
    }

    void stop() {
        timer.stop();
    }

    private void arm(long atNanos) {
        armed = true;
        timerNanos = atNanos;
        timer.set(atNanos - time.nanoTime(), onDue);
    }
}
