package io.holdfast.zookeeper;

import io.holdfast.spi.TimeSource;
import org.jspecify.annotations.Nullable;

/**
 * A timer that cannot be set after a stop, not even by another thread at the same moment. Otherwise a late answer would
 * set a timer in a closed store.
 */
final class StoppableTimer {

    private final TimeSource time;
    private volatile boolean stopped;
    private volatile TimeSource.@Nullable Timer last;

    StoppableTimer(TimeSource time) {
        this.time = time;
    }

    /** Runs the task after that time. Does not cancel a task that was set before. */
    void set(long nanos, Runnable task) {
        if (!stopped) {
            last = time.schedule(nanos, task);
            if (stopped) {
                cancel();
            }
        }
    }

    /** Cancels the task that was set last. */
    void cancel() {
        TimeSource.Timer timer = last;
        if (timer != null) {
            timer.cancel();
        }
    }

    void stop() {
        stopped = true;
        cancel();
    }

    boolean isStopped() {
        return stopped;
    }
}
