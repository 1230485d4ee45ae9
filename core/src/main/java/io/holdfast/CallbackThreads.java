package io.holdfast;

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
 * Daemon threads made as needed. One after another runs on one thread while that gets on, as to wake a thread for each of
 * very many short callbacks costs more than they do; where one of them blocks, others go on beside it.
 *
 * <p>Invariant: while a task waits, a thread is on its way to take one, or a watch is armed, which brings more threads if none
 * has taken any for {@link #PATIENCE_NANOS}, up to {@link #MOST} in all. So no task waits for the end of another for much longer
 * than that, unless so many block at once: then the next one runs when one of them ends.
 *
 * <p>A task is started in the order of its submission, but may overtake one that was taken before it.
 */
final class CallbackThreads implements Executor {

    /** A callback that has run for so long may be one that blocks. */
    private static final long PATIENCE_NANOS = 1_000_000;

    /** More threads than that serve nobody: each has a stack, and a system has a limit that the application needs, too. */
    static final int MOST = 512;

    private static final int IDLE_SECONDS = 10;
    private static final int PROCESSORS = Runtime.getRuntime().availableProcessors();
    private static final AtomicInteger THREADS = new AtomicInteger();

    /** Blocked callbacks are a matter of real time, also in a test of another one. */
    private final TimeSource time = TimeSource.system();

    private final Queue<Runnable> tasks = new ConcurrentLinkedQueue<>();
    private final ThreadPoolExecutor threads = new ThreadPoolExecutor(
            0, Integer.MAX_VALUE, IDLE_SECONDS, TimeUnit.SECONDS, new SynchronousQueue<>(), task -> {
                Thread thread = new Thread(task, "holdfast-callback-" + THREADS.incrementAndGet());
                thread.setDaemon(true);
                return thread;
            });

    /** How many threads run tasks; at most {@link #MOST}, as it is raised only by {@link #tryAdd}. */
    private final AtomicInteger working = new AtomicInteger();

    private final AtomicBoolean watched = new AtomicBoolean();

    /** When one of them last took a task. */
    private volatile long takenNanos;

    @Override
    public void execute(Runnable task) {
        tasks.add(task);
        try {
            if (working.compareAndSet(0, 1)) {
                begin();
            } else if (isStalled()) {
                bring(1);
            } else {
                watch();
            }
        } catch (Error e) {
            // Those threads that there are take it, if there are any.
            if (working.get() == 0 && tasks.remove(task)) {
                throw e;
            }
            watch();
        }
    }

    /** No thread stays that has nothing to do; whatever comes now is still run. */
    void close() {
        threads.setKeepAliveTime(0, TimeUnit.SECONDS);
    }

    private boolean isStalled() {
        return time.nanoTime() - takenNanos > PATIENCE_NANOS;
    }

    private void bring(int more) {
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

    /** Another thread, which has been counted. */
    private void begin() {
        takenNanos = time.nanoTime();
        try {
            threads.execute(this::work);
        } catch (Error e) {
            // The system has no more threads. Those that there are go on.
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
                // Of no concern to the next one.
                Thread.interrupted();
            }
            // Whoever added a task since the last look may have seen this thread at work.
        } while (working.decrementAndGet() == 0 && !tasks.isEmpty() && working.compareAndSet(0, 1));
    }

    @SuppressWarnings("ThreadPriorityCheck") // the yield only saves time, or not
    private @Nullable Runnable next() {
        Runnable task = tasks.poll();
        if (task == null) {
            // To sleep and be woken for each of many short tasks costs more than they do; and whoever brings the
            // next one may wait for just this processor.
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
                // Twice as many, for there may be very many that block.
                bring(Math.max(1, now));
            } else if (now < PROCESSORS) {
                bring(1);
            }
        } finally {
            // Also if the system has no more threads now.
            watch();
        }
    }
}
