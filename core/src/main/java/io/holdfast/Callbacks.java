package io.holdfast;

import static java.util.Objects.requireNonNull;

import io.holdfast.spi.TimeSource;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Runs the user's code on the user's executor, or on daemon threads made as needed, and logs its exceptions. */
final class Callbacks {

    private final Executor executor;
    private final @Nullable CallbackThreads own;
    private final List<LockListener> listeners;

    Callbacks(@Nullable Executor executor, List<LockListener> listeners) {
        this.own = executor == null ? new CallbackThreads() : null;
        this.executor = executor == null ? requireNonNull(own) : executor;
        this.listeners = listeners;
    }

    void execute(Runnable callback) {
        start(own == null ? new Once(callback) : () -> runLogged(callback));
    }

    /**
     * Runs a delivery as a callback. If the executor has not begun it within this time, runs the other callback on a
     * thread of its own: an executor may drop a task and say nothing.
     */
    void deliver(Runnable delivery, Runnable instead, TimeSource time, long withinNanos) {
        Once task = new Once(delivery);
        start(task);
        task.watch(instead, time, withinNanos);
    }

    private void start(Runnable task) {
        try {
            executor.execute(task);
        } catch (Throwable e) {
            // The executor is full, shut down or defective. A late loss signal is better than none, and a caller that
            // waits for a stage would wait forever.
            Log.LOG.log(System.Logger.Level.WARNING, "The callback executor refuses; running on an own thread", e);
            runOnOwnThread(task);
        }
    }

    /**
     * A callback that runs at most once. An executor may fail after it has taken a task, or run it; a second run would
     * release what the first handed over.
     *
     * <p>Invariant: at most one of the callback and its substitute runs, because the flag is set once. When the time to
     * begin has passed, one of them has run.
     */
    private static final class Once extends AtomicBoolean implements Runnable {

        private static final long serialVersionUID = 1;

        @SuppressWarnings("serial") // nobody writes it anywhere
        private final Runnable callback;

        @SuppressWarnings("serial") // nobody writes it anywhere
        private volatile TimeSource.@Nullable Timer timer;

        Once(Runnable callback) {
            this.callback = callback;
        }

        @Override
        public void run() {
            if (compareAndSet(false, true)) {
                TimeSource.Timer armed = timer;
                if (armed != null) {
                    armed.cancel();
                }
                runLogged(callback);
            }
        }

        void watch(Runnable instead, TimeSource time, long withinNanos) {
            if (get()) {
                return;
            }
            TimeSource.Timer armed = time.schedule(withinNanos, () -> giveUp(instead));
            timer = armed;
            if (get()) {
                // The callback has begun in the meantime, perhaps before the timer could be cancelled.
                armed.cancel();
            }
        }

        private void giveUp(Runnable instead) {
            if (compareAndSet(false, true)) {
                Log.LOG.log(
                        System.Logger.Level.WARNING,
                        "The callback executor did not begin to deliver the outcome of an acquisition in time: it"
                                + " is full, or it drops tasks; a lease that was to be delivered is released");
                runOnOwnThread(() -> runLogged(instead));
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

    void notifyListeners(Consumer<LockListener> event) {
        if (!listeners.isEmpty()) {
            // Each on its own, so that an exception of one does not keep the event from the next.
            execute(() -> listeners.forEach(each -> runLogged(() -> event.accept(each))));
        }
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
            // Even checked exceptions arrive here: other languages than Java throw them from anywhere.
            Log.LOG.log(System.Logger.Level.ERROR, "A callback failed", e);
        }
    }
}
