package io.holdfast.memory;

import io.holdfast.spi.TimeSource;
import java.time.Duration;
import java.util.PriorityQueue;
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

    private static final class Task {
        final long dueNanos;
        final long order;
        final Runnable body;

        /** Left in the queue until its time, since taking it out means a search. */
        boolean cancelled; // by lock

        Task(long dueNanos, long order, Runnable body) {
            this.dueNanos = dueNanos;
            this.order = order;
            this.body = body;
        }

        static int compare(Task one, Task other) {
            int byTime = Long.compare(one.dueNanos, other.dueNanos);
            return byTime != 0 ? byTime : Long.compare(one.order, other.order);
        }
    }

    private final ReentrantLock lock = new ReentrantLock();
    private final PriorityQueue<Task> tasks = new PriorityQueue<>(Task::compare); // by lock
    private long nowNanos = NANOS_START; // by lock
    private long wallOffsetMillis; // by lock
    private long scheduled; // by lock

    public VirtualTime() {}

    @Override
    public long nanoTime() {
        lock.lock();
        try {
            return nowNanos;
        } finally {
            lock.unlock();
        }
    }

    @Override
    public long wallMillis() {
        lock.lock();
        try {
            return WALL_START_MILLIS + wallOffsetMillis + (nowNanos - NANOS_START) / 1_000_000;
        } finally {
            lock.unlock();
        }
    }

    @Override
    public Timer schedule(long delayNanos, Runnable body) {
        lock.lock();
        try {
            Task task = new Task(nowNanos + Math.max(0, delayNanos), scheduled++, body);
            tasks.add(task);
            return () -> cancel(task);
        } finally {
            lock.unlock();
        }
    }

    /** Moves the wall clock only, as an administrator or the end of a suspension would. */
    public void stepWall(Duration step) {
        lock.lock();
        try {
            wallOffsetMillis += step.toMillis();
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
            return (int) tasks.stream().filter(task -> !task.cancelled).count();
        } finally {
            lock.unlock();
        }
    }

    private boolean runNextUntil(long endNanos) {
        Task task;
        lock.lock();
        try {
            task = tasks.peek();
            while (task != null && task.cancelled) {
                tasks.remove();
                task = tasks.peek();
            }
            if (task == null || task.dueNanos > endNanos) {
                return false;
            }
            tasks.remove();
            nowNanos = Math.max(nowNanos, task.dueNanos);
        } finally {
            lock.unlock();
        }
        task.body.run();
        return true;
    }

    private void cancel(Task task) {
        lock.lock();
        try {
            task.cancelled = true;
        } finally {
            lock.unlock();
        }
    }
}
