package io.holdfast;

import static java.util.Objects.requireNonNull;

import io.holdfast.spi.TimeSource;
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

    /**
     * Runs a delivery as a callback. If the executor has not begun it by then, the other one runs on a thread of its own: an
     * executor may drop a task and say nothing.
     */
    void deliver(Runnable delivery, Runnable instead, TimeSource time, long withinNanos) {
        Delivery made = new Delivery(delivery, instead);
        execute(made);
        made.watch(time, withinNanos);
    }

    /** Invariant: of the two, one runs at most, as the flag is set once; after the time to begin has passed, one has run. */
    private static final class Delivery extends AtomicBoolean implements Runnable {

        private static final long serialVersionUID = 1;

        @SuppressWarnings("serial") // nobody writes it anywhere
        private final Runnable delivery;

        @SuppressWarnings("serial") // nobody writes it anywhere
        private final Runnable instead;

        @SuppressWarnings("serial") // nobody writes it anywhere
        private volatile TimeSource.@Nullable Timer timer;

        Delivery(Runnable delivery, Runnable instead) {
            this.delivery = delivery;
            this.instead = instead;
        }

        @Override
        public void run() {
            if (compareAndSet(false, true)) {
                TimeSource.Timer armed = timer;
                if (armed != null) {
                    armed.cancel();
                }
                delivery.run();
            }
        }

        void watch(TimeSource time, long withinNanos) {
            if (get()) {
                return;
            }
            TimeSource.Timer armed = time.schedule(withinNanos, this::giveUp);
            timer = armed;
            if (get()) {
                // It began meanwhile, and may not have seen the timer.
                armed.cancel();
            }
        }

        private void giveUp() {
            if (compareAndSet(false, true)) {
                Log.LOG.log(
                        System.Logger.Level.WARNING,
                        "The callback executor did not begin to deliver the outcome of an acquisition in time: it is full, or it"
                                + " drops tasks; a lease that was to be delivered is released");
                runOnOwnThread(() -> runLogged(instead));
            }
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
