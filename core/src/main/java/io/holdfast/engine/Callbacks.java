package io.holdfast.engine;

import io.holdfast.LockListener;
import io.holdfast.log.Log;
import io.holdfast.spi.DaemonThreads;
import io.holdfast.spi.TimeSource;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Runs the user's code on the user's executor, or on daemon threads made as needed, and logs its exceptions.
 *
 * <p>Invariant: neither a timer's thread nor a store's calls the user's executor, which may block, or run the task
 * itself: own threads hand each task over. Losses, calls of observers, and outcomes have different threads, so that
 * none of them waits for another that blocks.
 */
public final class Callbacks {

    /** The user's executor; null if there is none. */
    private final @Nullable Executor executor;

    /** Whether any thread may call the executor. */
    private final boolean direct;

    private final CallbackThreads outcomes = new CallbackThreads("holdfast-callback");
    private final CallbackThreads losses = new CallbackThreads("holdfast-loss");
    private final CallbackThreads observers = new CallbackThreads("holdfast-listener");
    private final List<LockListener> listeners;

    Callbacks(EngineSettings settings) {
        ThreadFactory threads = settings.callbackThreads;
        this.executor = threads == null
                ? settings.callbackExecutor
                : task -> threads.newThread(task).start();
        // A simulation runs all its events on one thread, in their order.
        this.direct = threads != null || settings.time != TimeSource.system();
        this.listeners = settings.listeners;
    }

    /** Runs a callback that delivers an outcome. */
    void execute(Runnable callback) {
        start(outcomes, callback);
    }

    /** Runs a callback that reports a loss. */
    void executeLoss(Runnable callback) {
        start(losses, callback);
    }

    /** Runs a callback of somebody who observes the client. */
    public void executeObserver(Runnable callback) {
        start(observers, callback);
    }

    /**
     * Runs a delivery as a callback. If the executor has not begun it within this time, runs the other callback on a
     * thread of its own: an executor may drop a task and say nothing.
     */
    void deliver(Runnable delivery, Runnable instead, TimeSource time, long withinNanos) {
        Once task = new Once(delivery);
        start(outcomes, task);
        task.watch(instead, time, withinNanos);
    }

    private void start(CallbackThreads own, Runnable callback) {
        if (executor == null) {
            startOn(own, callback instanceof Once once ? once : () -> runLogged(callback));
            return;
        }
        Once task = callback instanceof Once once ? once : new Once(callback);
        if (direct) {
            handOver(executor, task, Callbacks::runOnOwnThread);
        } else {
            startOn(own, () -> handOver(executor, task, Runnable::run));
        }
    }

    /** @param otherwise runs the task if the executor does not take it */
    private static void handOver(Executor executor, Runnable task, Consumer<Runnable> otherwise) {
        try {
            executor.execute(task);
        } catch (Throwable e) {
            // The executor is full, shut down or defective. A late loss signal is better than none, and a caller that
            // waits for a stage would wait forever.
            Log.LOG.log(System.Logger.Level.WARNING, "The callback executor refuses; running on an own thread", e);
            otherwise.accept(task);
        }
    }

    private static void startOn(CallbackThreads own, Runnable task) {
        try {
            own.execute(task);
        } catch (Error e) {
            // The system has no more threads.
            runHere(task, e);
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
        try {
            DaemonThreads.unstarted("holdfast-callback-refused", task).start();
        } catch (Error e) {
            // The system has no more threads.
            runHere(task, e);
        }
    }

    private static void runHere(Runnable task, Error why) {
        Log.LOG.log(System.Logger.Level.WARNING, "No thread for a callback; running it on this one", why);
        task.run();
    }

    public void notifyListeners(Consumer<LockListener> event) {
        if (!listeners.isEmpty()) {
            // Each on its own, so that an exception of one does not keep the event from the next.
            executeObserver(() -> listeners.forEach(each -> runLogged(() -> event.accept(each))));
        }
    }

    void close() {
        outcomes.close();
        losses.close();
        observers.close();
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
