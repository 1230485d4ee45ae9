package io.holdfast;

import static java.util.Objects.requireNonNull;

import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Runs the user's code: on the user's executor or daemon threads made as needed, and its exceptions are logged. */
final class Callbacks {

    private final Executor executor;
    private final @Nullable CallbackThreads own;
    private final @Nullable LockListener listener;

    Callbacks(@Nullable Executor executor, @Nullable LockListener listener) {
        this.own = executor == null ? new CallbackThreads() : null;
        this.executor = executor == null ? requireNonNull(own) : executor;
        this.listener = listener;
    }

    void execute(Runnable callback) {
        Runnable task = own == null ? new Once(callback) : () -> runLogged(callback);
        try {
            executor.execute(task);
        } catch (Throwable e) {
            // Full, shut down or defective: a loss signal that came late is better than none, and whoever waits for a
            // stage
            // would wait for ever.
            Log.LOG.log(System.Logger.Level.WARNING, "The callback executor refuses; running on an own thread", e);
            runOnOwnThread(task);
        }
    }

    /** An executor may fail after it has taken a task, or run it. A second run would release what the first handed over. */
    private static final class Once extends AtomicBoolean implements Runnable {

        private static final long serialVersionUID = 1;

        @SuppressWarnings("serial") // nobody writes it anywhere
        private final Runnable callback;

        Once(Runnable callback) {
            this.callback = callback;
        }

        @Override
        public void run() {
            if (compareAndSet(false, true)) {
                runLogged(callback);
            }
        }
    }

    private static void runOnOwnThread(Runnable task) {
        Thread thread = new Thread(task, "holdfast-callback-refused");
        thread.setDaemon(true);
        try {
            thread.start();
        } catch (Error e) {
            // The system has no more threads.
            Log.LOG.log(System.Logger.Level.WARNING, "No thread for a callback; running it on this one", e);
            task.run();
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
            own.close();
        }
    }

    private static void runLogged(Runnable callback) {
        try {
            callback.run();
        } catch (Throwable e) {
            // Checked ones, too: other languages than Java throw them from anywhere.
            Log.LOG.log(System.Logger.Level.ERROR, "A callback failed", e);
        }
    }
}
