package io.holdfast.spi;

import java.util.TreeSet;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * The JVM's clocks, and one daemon thread for all timers. The thread ends some seconds after its last timer, so that
 * the class loader of an application that was undeployed can go, and comes back with the next one.
 *
 * <p>Most timers are cancelled long before their time, and each acquisition sets several. So the thread is woken only
 * for a timer that is due before the thread looks anyway. It looks once for nothing if that timer is cancelled.
 */
final class SystemTime implements TimeSource {

    /** How long the thread stays without a timer, and the longest time between two looks. */
    private static final long IDLE_NANOS = 5_000_000_000L;

    /** Keeps differences between two instants within a long. */
    private static final long DELAY_MOST = Long.MAX_VALUE / 4;

    static final SystemTime INSTANCE = new SystemTime();

    private static final System.Logger LOG = System.getLogger(SystemTime.class.getName());

    private final ReentrantLock lock = new ReentrantLock();
    private final Condition sooner = lock.newCondition(); // a timer is due before the next look
    private final TreeSet<Task> tasks = new TreeSet<>(); // by lock
    private long number; // by lock; of the last task
    private @Nullable Thread thread; // by lock; null while there is none
    private long lookNanos; // by lock; when the thread looks next, or began to look

    SystemTime() {}

    @Override
    public long nanoTime() {
        return System.nanoTime();
    }

    @Override
    public long wallMillis() {
        return System.currentTimeMillis();
    }

    @Override
    public Timer schedule(long delayNanos, Runnable task) {
        long now = System.nanoTime();
        lock.lock();
        try {
            if (thread == null) {
                Thread started = DaemonThreads.unstarted("holdfast-timer", this::runTasks);
                started.start();
                thread = started;
                lookNanos = now;
            }
            Task added = new Task(now + Math.max(0, Math.min(delayNanos, DELAY_MOST)), ++number, task);
            tasks.add(added);
            if (added.dueNanos - lookNanos < 0) {
                lookNanos = added.dueNanos;
                sooner.signal();
            }
            return added;
        } finally {
            lock.unlock();
        }
    }

    private void runTasks() {
        try {
            for (Task due = awaitDue(); due != null; due = awaitDue()) {
                run(due.task);
            }
        } catch (Error e) {
            // There was no memory to wait, for example. The next timer starts another thread.
            end();
            throw e;
        }
    }

    private static void run(Runnable task) {
        try {
            task.run();
        } catch (RuntimeException | Error e) {
            LOG.log(System.Logger.Level.ERROR, "A timer task failed; this is a defect in Holdfast", e);
        }
    }

    /** Returns the next task when its time has come; null if there was none for a while, and then the thread ends. */
    private @Nullable Task awaitDue() {
        lock.lock();
        try {
            long used = System.nanoTime();
            while (true) {
                long now = System.nanoTime();
                Task first = tasks.isEmpty() ? null : tasks.first();
                if (first == null && now - used >= IDLE_NANOS) {
                    thread = null;
                    return null;
                }
                long left = first == null ? IDLE_NANOS : first.dueNanos - now;
                if (first != null && left <= 0) {
                    tasks.remove(first);
                    return first;
                }
                if (first != null) {
                    used = now;
                }
                long pause = Math.min(left, IDLE_NANOS);
                lookNanos = now + pause;
                try {
                    var unused = sooner.awaitNanos(pause);
                } catch (InterruptedException e) {
                    // By a task, for itself: the thread has no other owner.
                }
            }
        } finally {
            lock.unlock();
        }
    }

    private void end() {
        lock.lock();
        try {
            thread = null;
        } finally {
            lock.unlock();
        }
    }

    private final class Task implements Timer, Comparable<Task> {

        final long dueNanos;
        final Runnable task;
        private final long number;

        Task(long dueNanos, long number, Runnable task) {
            this.dueNanos = dueNanos;
            this.number = number;
            this.task = task;
        }

        /** Removes it at once: it must not keep its lock's state reachable until its time comes. */
        @Override
        public void cancel() {
            lock.lock();
            try {
                tasks.remove(this);
            } finally {
                lock.unlock();
            }
        }

        @Override
        public int compareTo(Task other) {
            long later = dueNanos - other.dueNanos;
            return later != 0 ? Long.signum(later) : Long.compare(number, other.number);
        }
    }
}
