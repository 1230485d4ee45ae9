package io.holdfast.zookeeper;

import io.holdfast.spi.TimeSource;
import org.jspecify.annotations.Nullable;

/**
 * Timers that begin no more once this was stopped, on any thread, even at the same moment. Otherwise a late answer
 * would begin a timer in a store that is closed.
 */
final class StoppableTimer {

    private final TimeSource time;
    private volatile boolean stopped;
    private volatile TimeSource.@Nullable Timer last;

    StoppableTimer(TimeSource time) {
        this.time = time;
    }

    /** Runs the task after that time. A timer that was set before goes on. */
    void set(long nanos, Runnable task) {
        if (!stopped) {
            last = time.schedule(nanos, task);
            if (stopped) {
                cancel();
            }
        }
    }

    /** Cancels the timer that was set last. */
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
