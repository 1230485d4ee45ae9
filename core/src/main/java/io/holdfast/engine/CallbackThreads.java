package io.holdfast.engine;

import io.holdfast.log.Log;
import io.holdfast.spi.DaemonThreads;
import io.holdfast.spi.TimeSource;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * Runs tasks on daemon threads made as needed. One thread runs one task after another while they are short, because
 * waking a thread for each of many short callbacks costs more than the callbacks. If a task blocks, other threads run
 * the others.
 *
 * <p>Invariant: while a task waits, a thread is on its way to take a task, or a watch is armed. The watch adds threads
 * if no thread has taken a task for {@link #PATIENCE_NANOS}, up to {@link #MOST} in all; and one thread if others take
 * tasks, up to the number of processors. So no task waits for the end of another for much longer than that, unless
 * {@link #MOST} tasks block at once: then the next task runs when one of them ends.
 *
 * <p>Tasks start in the order of their submission, but a task may overtake one that was taken before it.
 */
final class CallbackThreads implements Executor {

    /** A callback that has run for this time may be one that blocks. */
    private static final long PATIENCE_NANOS = 1_000_000;

    /** The most threads. Each has a stack, and the application needs its share of the system's limit. */
    static final int MOST = 512;

    private static final int IDLE_SECONDS = 10;
    private static final int PROCESSORS = Runtime.getRuntime().availableProcessors();
    private static final AtomicInteger THREADS = new AtomicInteger();

    /** Real time even in a test under virtual time: a blocked callback blocks a real thread. */
    private final TimeSource time = TimeSource.system();

    private final Queue<Runnable> tasks = new ConcurrentLinkedQueue<>();
    private final ThreadPoolExecutor threads = new ThreadPoolExecutor(
            0,
            Integer.MAX_VALUE,
            IDLE_SECONDS,
            TimeUnit.SECONDS,
            new SynchronousQueue<>(),
            task -> DaemonThreads.unstarted(threadName(), task));

    /** The number of threads that run tasks; at most {@link #MOST}, because only {@link #tryAdd} raises it. */
    private final AtomicInteger working = new AtomicInteger();

    private final AtomicBoolean watched = new AtomicBoolean();

    /** Whether the log says that {@link #MOST} tasks block. */
    private final AtomicBoolean warned = new AtomicBoolean();

    private final String name;

    /** The time at which a thread last took a task. */
    private volatile long takenNanos;

    /** @param name begins the threads' names, and says in the log what they run */
    CallbackThreads(String name) {
        this.name = name;
    }

    private String threadName() {
        return name + "-" + THREADS.incrementAndGet();
    }

    @Override
    public void execute(Runnable task) {
        tasks.add(task);
        try {
            if (working.compareAndSet(0, 1)) {
                begin();
            } else if (isStalled()) {
                add(1);
            } else {
                watch();
            }
        } catch (Error e) {
            // The system has no more threads. A thread that runs takes the task, if there is one.
            if (working.get() == 0 && tasks.remove(task)) {
                throw e;
            }
            watch();
        }
    }

    /** Lets idle threads end. Tasks that come later still run. */
    void close() {
        threads.setKeepAliveTime(0, TimeUnit.SECONDS);
    }

    private void warnIfFull(int now) {
        if (now == MOST && warned.compareAndSet(false, true)) {
            Log.LOG.log(
                    System.Logger.Level.WARNING,
                    "All " + MOST + " threads of a client that are called " + name + " are blocked, so what comes next"
                            + " waits for one of them (expected: callbacks that do not block, or a callbackExecutor)");
        }
    }

    private boolean isStalled() {
        return time.nanoTime() - takenNanos > PATIENCE_NANOS;
    }

    private void add(int more) {
        for (int i = 0; i < more && tryAdd(); i++) {
            begin();
        }
    }

    private boolean tryAdd() {
        int now = working.get();
        while (now < MOST) {
            if (working.compareAndSet(now, now + 1)) {
                return true;
            }
            now = working.get();
        }
        return false;
    }

    /** Starts another thread, which has been counted. */
    private void begin() {
        takenNanos = time.nanoTime();
        try {
            threads.execute(this::work);
        } catch (Error e) {
            // The system has no more threads; those that run continue.
            working.decrementAndGet();
            throw e;
        }
    }

    /** Tasks throw nothing: {@link Callbacks} logs what callbacks throw. */
    private void work() {
        do {
            for (Runnable task = tasks.poll(); task != null; task = next()) {
                takenNanos = time.nanoTime();
                task.run();
                // An interrupt of this task does not concern the next one.
                Thread.interrupted();
            }
            // A task may have been added since the last look by a thread that saw this one at work.
        } while (working.decrementAndGet() == 0 && !tasks.isEmpty() && working.compareAndSet(0, 1));
    }

    @SuppressWarnings("ThreadPriorityCheck") // the yield may save time, and nothing depends on it
    private @Nullable Runnable next() {
        Runnable task = tasks.poll();
        if (task == null) {
            // Sleeping and waking for each of many short tasks costs more than the tasks; and the thread that adds the
            // next one may wait for this very processor.
            Thread.yield();
            task = tasks.poll();
        }
        return task;
    }

    private void watch() {
        if (!watched.get() && watched.compareAndSet(false, true)) {
            time.schedule(PATIENCE_NANOS, this::look);
        }
    }

    private void look() {
        watched.set(false);
        if (tasks.isEmpty()) {
            return;
        }
        int now = working.get();
        try {
            if (now == 0 || isStalled()) {
                // Doubles the threads, because thousands of tasks may block.
                add(Math.max(1, now));
                warnIfFull(now);
            } else if (now < PROCESSORS) {
                add(1);
            }
        } finally {
            // Even when the system has no more threads.
            watch();
        }
    }
}
