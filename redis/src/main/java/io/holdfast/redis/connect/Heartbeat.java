package io.holdfast.redis.connect;

import io.holdfast.spi.TimeSource;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** Runs a short action at intervals until it is stopped. */
public final class Heartbeat {

    private final TimeSource time;
    private final Duration interval;
    private final Runnable beat;
    private volatile boolean stopped;
    private volatile TimeSource.@Nullable Timer timer;

    public Heartbeat(TimeSource time, Duration interval, Runnable beat) {
        this.time = time;
        this.interval = interval;
        this.beat = beat;
    }

    public void start() {
        timer = time.schedule(interval.toNanos(), () -> {
            if (stopped) {
                return;
            }
            // Schedules the next beat first, so that a beat that fails is not the last.
            start();
            try {
                beat.run();
            } catch (RuntimeException e) {
                // If it was stopped in the meantime, its connections were closed, and the failure means nothing.
                if (!stopped) {
                    throw e;
                }
            }
        });
    }

    public void stop() {
        stopped = true;
        TimeSource.Timer next = timer;
        if (next != null) {
            next.cancel();
        }
    }
}
