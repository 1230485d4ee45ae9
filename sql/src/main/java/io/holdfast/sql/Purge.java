package io.holdfast.sql;

import io.holdfast.spi.TimeSource;
import java.util.concurrent.TimeUnit;
import java.util.function.LongUnaryOperator;

/**
 * Deletes rows that nobody has used for a day, a small slice of the keys at a time: all keys are hashes, so slices are
 * equally large, and no index of the ends is needed, which each renewal would have to change.
 */
final class Purge implements AutoCloseable {

    private static final long PERIOD_NANOS = TimeUnit.SECONDS.toNanos(30);

    /** Three hexadecimal digits of a lock's key, or p and two of a pool's. */
    private static final int SLICES = 16 * 16 * 16;

    private final LockTable table;
    private final Workers workers;
    private final TimeSource time;
    private final LongUnaryOperator random;
    private volatile TimeSource.Timer timer = () -> {};
    private volatile boolean closed;

    Purge(LockTable table, Workers workers, TimeSource time, LongUnaryOperator random) {
        this.table = table;
        this.workers = workers;
        this.time = time;
        this.random = random;
    }

    void start() {
        long delay = PERIOD_NANOS / 2 + random.applyAsLong(PERIOD_NANOS);
        timer = time.schedule(delay, this::run);
        if (closed) {
            timer.cancel();
        }
    }

    private void run() {
        int slice = (int) random.applyAsLong(SLICES + SLICES / 16);
        String from = slice < SLICES ? String.format("%03x", slice) : String.format("p%02x", slice - SLICES);
        workers.submit(link -> {
                    table.purge(link, from, from + "g");
                    return true;
                })
                // A failure is no news: the commands meet it as well, and the next slice comes.
                .whenComplete((done, error) -> {
                    if (!closed) {
                        start();
                    }
                });
    }

    @Override
    public void close() {
        closed = true;
        timer.cancel();
    }
}
