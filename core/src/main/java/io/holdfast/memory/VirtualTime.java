package io.holdfast.memory;

import static java.util.Objects.requireNonNull;

import io.holdfast.spi.TimeSource;
import java.time.Duration;
import java.util.TreeSet;
import java.util.concurrent.locks.ReentrantLock;

/**
 * A time that stands still until a caller moves it. Scheduled tasks run on the thread that moves it, in the order of
 * their times, and in the order of their scheduling where the times are equal. So a test of hours takes milliseconds,
 * and each run is the same.
 *
 * <pre>{@code
 * VirtualTime time = new VirtualTime();
 * MemoryLockStore.Server server = new MemoryLockStore.Server(time);
 * LockClient locks = LockClient.builder()
 *         .store(server::connect)
 *         .timeSource(time)
 *         .build();
 * Lease lease = locks.tryAcquire("report", LockOptions.defaults().leaseFor(ofSeconds(10))).orElseThrow();
 * time.advance(ofSeconds(11)); // the lease is lost, at once
 * }</pre>
 *
 * <p>Thread-safe, but deterministic only if one thread does everything.
 */
public final class VirtualTime implements TimeSource {

    /** Any present-day date serves; not zero, so that a mix-up of wall and monotonic time shows. */
    private static final long WALL_START_MILLIS = 1_800_000_000_000L;

    private static final long NANOS_START = 1_000_000_000L;

    /** A scheduled task, in the order in which tasks run. No two have the same {@code order}. */
    private record Task(long dueNanos, long order, Runnable body) implements Comparable<Task> {

        @Override
        public int compareTo(Task other) {
            int byTime = Long.compare(dueNanos, other.dueNanos);
            return byTime != 0 ? byTime : Long.compare(order, other.order);
        }
    }

    private final ReentrantLock lock = new ReentrantLock();
    private final TreeSet<Task> tasks = new TreeSet<>(); // by lock
    private volatile long nowNanos = NANOS_START; // written by lock
    private volatile long wallOffsetMillis; // written by lock
    private long scheduled; // by lock

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
            Task task = new Task(nowNanos + Math.max(0, delayNanos), scheduled++, body);
            tasks.add(task);
            return () -> cancel(task);
        } finally {
            lock.unlock();
        }
    }

    /** Most tasks are cancelled long before their time, so a cancelled one leaves at once. */
    private void cancel(Task task) {
        lock.lock();
        try {
            tasks.remove(task);
        } finally {
            lock.unlock();
        }
    }

    /** Moves the wall clock alone, as an administrator or the end of a suspension would. */
    public void stepWall(Duration step) {
        lock.lock();
        try {
            long offset = wallOffsetMillis;
            wallOffsetMillis = offset + step.toMillis();
        } finally {
            lock.unlock();
        }
    }

    /** Moves time on and runs the tasks that fall due, even those that other tasks schedule within the span. */
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

    /** Moves time to the next scheduled task and runs it. Returns false if nothing is scheduled. */
    public boolean runNext() {
        return runNextUntil(Long.MAX_VALUE);
    }

    /** Returns how many tasks wait for their time. */
    public int pending() {
        lock.lock();
        try {
            return tasks.size();
        } finally {
            lock.unlock();
        }
    }

    private boolean runNextUntil(long endNanos) {
        Task task;
        lock.lock();
        try {
            if (tasks.isEmpty() || tasks.first().dueNanos > endNanos) {
                return false;
            }
            task = requireNonNull(tasks.pollFirst());
            nowNanos = Math.max(nowNanos, task.dueNanos);
        } finally {
            lock.unlock();
        }
        task.body.run();
        return true;
    }
}
