package io.holdfast;

import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Runs the user's code: on the user's executor or daemon threads made as needed, and its exceptions are logged. */
final class Callbacks {

    private static final System.Logger LOG = System.getLogger(LockClient.class.getName());
    private static final AtomicInteger THREADS = new AtomicInteger();

    private final Executor executor;
    private final @Nullable ThreadPoolExecutor own;
    private final @Nullable LockListener listener;

    Callbacks(@Nullable Executor executor, @Nullable LockListener listener) {
        this.own = executor == null ? threadsAsNeeded() : null;
        this.executor = executor == null ? java.util.Objects.requireNonNull(own) : executor;
        this.listener = listener;
    }

    void execute(Runnable callback) {
        try {
            executor.execute(() -> runLogged(callback));
        } catch (RejectedExecutionException e) {
            // A user's executor that is full or shut down: a loss signal that came late is better than none.
            LOG.log(System.Logger.Level.WARNING, "The callback executor refuses; running on an own thread", e);
            Thread thread = new Thread(() -> runLogged(callback), "holdfast-callback-refused");
            thread.setDaemon(true);
            thread.start();
        }
    }

    void tell(Consumer<LockListener> event) {
        LockListener told = listener;
        if (told != null) {
            execute(() -> event.accept(told));
        }
    }

    boolean hasListener() {
        return listener != null;
    }

    void close() {
        if (own != null) {
            own.shutdown();
        }
    }

    private static void runLogged(Runnable callback) {
        try {
            callback.run();
        } catch (RuntimeException | Error e) {
            LOG.log(System.Logger.Level.ERROR, "A callback failed", e);
        }
    }

    private static ThreadPoolExecutor threadsAsNeeded() {
        return new ThreadPoolExecutor(0, Integer.MAX_VALUE, 10, TimeUnit.SECONDS, new SynchronousQueue<>(), task -> {
            Thread thread = new Thread(task, "holdfast-callback-" + THREADS.incrementAndGet());
            thread.setDaemon(true);
            return thread;
        });
    }
}
