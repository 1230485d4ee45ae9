package io.holdfast.verify.engine;

import io.holdfast.memory.VirtualTime;
import io.holdfast.spi.TimeSource;

/**
 * The clock of one simulated process: runs at its own rate, and nothing happens in the process while it is paused or
 * after it was killed.
 */
public final class SimTime implements TimeSource {

    private final VirtualTime world;

    /** How fast this process's clock runs, for example 1.004: within what the drift margin allows for. */
    private final double rate;

    /** By how much its wall clock is ahead of the world's. */
    private final long wallAheadMillis;

    private final long bornNanos;
    private long pausedUntilNanos;
    private boolean dead;

    SimTime(VirtualTime world, double rate, long wallAheadMillis) {
        this.world = world;
        this.rate = rate;
        this.wallAheadMillis = wallAheadMillis;
        this.bornNanos = world.nanoTime();
        this.pausedUntilNanos = bornNanos;
    }

    @Override
    public long nanoTime() {
        return (long) ((world.nanoTime() - bornNanos) * rate);
    }

    @Override
    public long wallMillis() {
        return world.wallMillis() + wallAheadMillis;
    }

    @Override
    public Timer schedule(long delayNanos, Runnable task) {
        return new ProcessTask(delayNanos, task);
    }

    /** Something that the process wants to do later; its time may come while it is paused. */
    private final class ProcessTask implements Runnable, Timer {
        private final Runnable body;
        private final Timer timer;
        private boolean cancelled;

        ProcessTask(long delayNanos, Runnable body) {
            this.body = body;
            // Rounded up: a timer that ran a nanosecond early would find nothing due, forever.
            timer = world.schedule((long) (delayNanos / rate) + 2, this);
        }

        @Override
        public void run() {
            if (cancelled || dead) {
                return;
            }
            long pause = pausedUntilNanos - world.nanoTime();
            if (pause > 0) {
                world.schedule(pause, this);
            } else {
                body.run();
            }
        }

        @Override
        public void cancel() {
            cancelled = true;
            timer.cancel();
        }
    }

    /** Something reaches the process from outside: at once, after the pause, or never. */
    public void deliver(Runnable event) {
        if (dead) {
            return;
        }
        long pause = pausedUntilNanos - world.nanoTime();
        if (pause > 0) {
            world.schedule(pause, () -> deliver(event));
        } else {
            event.run();
        }
    }

    /** By how much longer it is paused than before. */
    public long pause(long nanos) {
        long before = Math.max(pausedUntilNanos, world.nanoTime());
        pausedUntilNanos = Math.max(before, world.nanoTime() + nanos);
        return pausedUntilNanos - before;
    }

    boolean isPaused() {
        return pausedUntilNanos > world.nanoTime();
    }

    void kill() {
        dead = true;
    }

    public boolean isDead() {
        return dead;
    }
}
