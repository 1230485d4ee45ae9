package io.holdfast;

import io.holdfast.spi.TimeSource;

/** Runs something at the next look at the clock. */
final class HookedTime implements TimeSource {

    Runnable hook = () -> {};

    private final TimeSource time;

    HookedTime(TimeSource time) {
        this.time = time;
    }

    @Override
    public long nanoTime() {
        Runnable now = hook;
        hook = () -> {};
        now.run();
        return time.nanoTime();
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
