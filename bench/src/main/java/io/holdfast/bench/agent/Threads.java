package io.holdfast.bench.agent;

import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

/** Threads that were started together; {@link #join} rethrows the first failure. */
final class Threads {

    /** The work of a thread. */
    interface Body {
        void run() throws Exception;
    }

    private final List<Thread> threads = new ArrayList<>();
    private final Queue<Throwable> failures = new ConcurrentLinkedQueue<>();

    private Threads() {}

    static Threads start(List<? extends Body> bodies) {
        Threads started = new Threads();
        for (Body body : bodies) {
            Thread thread = new Thread(() -> {
                try {
                    body.run();
                } catch (Exception | LinkageError e) {
                    started.failures.add(e);
                }
            });
            thread.setDaemon(true);
            started.threads.add(thread);
        }
        started.threads.forEach(Thread::start);
        return started;
    }

    /** Waits for all threads, for at most a minute each. */
    void join() throws Exception {
        for (Thread thread : threads) {
            thread.join(60_000);
            if (thread.isAlive()) {
                throw new IllegalStateException(
                        "a thread still waits for its lock after a minute\n" + List.of(thread.getStackTrace()));
            }
        }
        Throwable failure = failures.peek();
        if (failure != null) {
            throw new IllegalStateException(failures.size() + " threads failed, the first one with", failure);
        }
    }
}
