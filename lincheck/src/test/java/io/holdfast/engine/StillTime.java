package io.holdfast.engine;

import static java.util.Objects.requireNonNull;

import io.holdfast.spi.TimeSource;

/** A time that does not pass, so that no lease or wait ends by it. */
record StillTime(long wallMillis) implements TimeSource {

    @Override
    public long nanoTime() {
        return 0;
    }

    @Override
    public Timer schedule(long delayNanos, Runnable task) {
        requireNonNull(task);
        return () -> {};
    }
}
