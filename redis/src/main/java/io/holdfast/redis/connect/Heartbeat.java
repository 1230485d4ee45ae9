package io.holdfast.redis.connect;

import io.holdfast.spi.TimeSource;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** Does something small at intervals until it is stopped. */
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
            // First the next one, so that a beat that fails is not the last.
            start();
            try {
                beat.run();
            } catch (RuntimeException e) {
                // Else it was stopped meanwhile, and what it uses was closed.
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
