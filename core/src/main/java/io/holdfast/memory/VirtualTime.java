package io.holdfast.memory;

import io.holdfast.spi.TimeSource;
import java.time.Duration;
import java.util.concurrent.locks.ReentrantLock;

/**
 * A time that stands still until it is moved; what is scheduled runs on the thread that moves it, in the order of its
 * times, and of its scheduling where the times are equal. So a test of hours takes milliseconds, and a run is the same
 * each time.
 *
 * <p>Thread-safe, but deterministic only if one thread does everything.
 */
public final class VirtualTime implements TimeSource {

    /** Any present-day date serves; not zero, so that a mix-up of wall and monotonic time shows. */
    private static final long WALL_START_MILLIS = 1_800_000_000_000L;

    private static final long NANOS_START = 1_000_000_000L;

    /** Scheduled here; cancelled by its timer. */
    private final class ScheduledTask extends TaskHeap.Task implements Timer {

        ScheduledTask(long dueNanos, long order, Runnable body) {
            super(dueNanos, order, body);
        }

        @Override
        public void cancel() {
            lock.lock();
            try {
                tasks.remove(this);
            } finally {
                lock.unlock();
            }
        }
    }

    private final ReentrantLock lock = new ReentrantLock();
    private final TaskHeap tasks = new TaskHeap(); // by lock
    private volatile long nowNanos = NANOS_START; // written by lock
    private volatile long wallOffsetMillis; // written by lock
    private long scheduled; // by lock

    public VirtualTime() {}

    @Override
    public long nanoTime() {
        return nowNanos;
    }

    @Override
    public long wallMillis() {
        return WALL_START_MILLIS + wallOffsetMillis + (nowNanos - NANOS_START) / 1_000_000;
    }

    @Override
    public Timer schedule(long delayNanos, Runnable body) {
        lock.lock();
        try {
            ScheduledTask task = new ScheduledTask(nowNanos + Math.max(0, delayNanos), scheduled++, body);
            tasks.add(task);
            return task;
        } finally {
            lock.unlock();
        }
    }

    /** Moves the wall clock only, as an administrator or the end of a suspension would. */
    public void stepWall(Duration step) {
        lock.lock();
        try {
            long offset = wallOffsetMillis;
            wallOffsetMillis = offset + step.toMillis();
        } finally {
            lock.unlock();
        }
    }

    /** Moves time on, running what falls due, also what that schedules within the span. */
    public void advance(Duration span) {
        long end = nanoTime() + span.toNanos();
        while (runNextUntil(end)) {}
        lock.lock();
        try {
            nowNanos = Math.max(nowNanos, end);
        } finally {
            lock.unlock();
        }
    }

    /** Moves time to the next scheduled task and runs it. False if nothing is scheduled. */
    public boolean runNext() {
        return runNextUntil(Long.MAX_VALUE);
    }

    /** How many tasks wait for their time. */
    public int pending() {
        lock.lock();
        try {
            return tasks.size();
        } finally {
            lock.unlock();
        }
    }

    private boolean runNextUntil(long endNanos) {
        TaskHeap.Task task;
        lock.lock();
        try {
            task = tasks.first();
            if (task == null || task.dueNanos > endNanos) {
                return false;
            }
            tasks.remove(task);
            nowNanos = Math.max(nowNanos, task.dueNanos);
        } finally {
            lock.unlock();
        }
        task.body.run();
        return true;
    }
}
