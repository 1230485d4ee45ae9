package io.holdfast.engine;

import io.holdfast.spi.TimeSource;

/** Runs something at the next look at the clock. */
public final class HookedTime implements TimeSource {

    public Runnable hook = () -> {};

    /** As above, but after the clock was read. */
    public Runnable hookAfter = () -> {};

    private final TimeSource time;

    public HookedTime(TimeSource time) {
        this.time = time;
    }

    @Override
    public long nanoTime() {
        Runnable now = hook;
        hook = () -> {};
        now.run();
        long read = time.nanoTime();
        Runnable after = hookAfter;
        hookAfter = () -> {};
        after.run();
        return read;
    }

    @Override
    public long wallMillis() {
        return time.wallMillis();
    }

    @Override
    public Timer schedule(long delayNanos, Runnable task) {
        return time.schedule(delayNanos, task);
    }
}
