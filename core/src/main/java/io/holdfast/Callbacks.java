package io.holdfast;

import static java.util.Objects.requireNonNull;

import java.util.concurrent.Executor;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Runs the user's code: on the user's executor or daemon threads made as needed, and its exceptions are logged. */
final class Callbacks {

    private static final System.Logger LOG = System.getLogger(LockClient.class.getName());

    private final Executor executor;
    private final @Nullable CallbackThreads own;
    private final @Nullable LockListener listener;

    Callbacks(@Nullable Executor executor, @Nullable LockListener listener) {
        this.own = executor == null ? new CallbackThreads() : null;
        this.executor = executor == null ? requireNonNull(own) : executor;
        this.listener = listener;
    }

    void execute(Runnable callback) {
        try {
            executor.execute(() -> runLogged(callback));
        } catch (RuntimeException | Error e) {
            // An executor that is full, shut down or defective: a loss signal that came late is better than none, and
            // whoever
            // waits for a stage would wait for ever.
            LOG.log(System.Logger.Level.WARNING, "The callback executor refuses; running on an own thread", e);
            runOnOwnThread(callback);
        }
    }

    private static void runOnOwnThread(Runnable callback) {
        Thread thread = new Thread(() -> runLogged(callback), "holdfast-callback-refused");
        thread.setDaemon(true);
        try {
            thread.start();
        } catch (Error e) {
            // The system has no more threads.
            LOG.log(System.Logger.Level.WARNING, "No thread for a callback; running it on this one", e);
            runLogged(callback);
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
        } catch (RuntimeException | Error e) {
            LOG.log(System.Logger.Level.ERROR, "A callback failed", e);
        }
    }
}
