package io.holdfast.zookeeper;

import io.holdfast.spi.TimeSource;

/**
 * How long a node may stay. ZooKeeper keeps a node for as long as its session. This client ends a lease that is over
 * sooner, and a waiter that does not ask any more.
 *
 * <p>Changed by work of the contender's {@link SerialQueue} only.
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

    /** @param onDue runs when the time has come, even if it was put off meanwhile */
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

    /** Sets the timer once more: it ran before the end, which was put off. */
    void goOn() {
        arm(endNanos);
    }

    /** Sets the timer once more: the node could not be deleted. */
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
