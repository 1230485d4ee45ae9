package io.holdfast.verify.sql;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Semaphore;
import org.jspecify.annotations.Nullable;

/**
 * Runs code that waits, as the store's commands wait for the database, under virtual time. Each piece runs on a thread
 * of its own, but only while the thread of the simulation stands still: so everything happens in one order.
 */
final class SimFibers {

    /** Ends a piece of code that waits when its history is over. */
    private static final class Over extends Error {
        private static final long serialVersionUID = 1;

        Over() {
            super("the history is over", null, false, false);
        }
    }

    /** One thread, and what it runs. */
    final class Fiber {
        private final Semaphore turn = new Semaphore(0);
        private final Semaphore back = new Semaphore(0);
        private @Nullable Runnable body;
        private boolean running;

        private void loop() {
            while (true) {
                turn.acquireUninterruptibly();
                Runnable next = body;
                if (next == null) {
                    return;
                }
                try {
                    next.run();
                } catch (Over e) {
                    // Nobody waits for its result.
                } finally {
                    body = null;
                    running = false;
                }
                back.release();
            }
        }

        /** Gives the turn to this fiber, until it waits or ends. By the thread of the simulation. */
        void resume() {
            if (!running) {
                return;
            }
            current = this;
            turn.release();
            back.acquireUninterruptibly();
            current = null;
            if (!running && !over) {
                free.add(this);
            }
        }

        /** Gives the turn back, until somebody resumes this fiber. By its own thread. */
        void await() {
            if (over) {
                throw new Over();
            }
            back.release();
            turn.acquireUninterruptibly();
            if (over) {
                throw new Over();
            }
        }
    }

    private final ArrayDeque<Fiber> free = new ArrayDeque<>();
    private final List<Fiber> all = new ArrayList<>();
    private @Nullable Fiber current;
    private boolean over;

    /** Runs the code until it waits or ends. */
    void run(Runnable body) {
        Fiber fiber = free.poll();
        if (fiber == null) {
            fiber = new Fiber();
            all.add(fiber);
            Thread thread = new Thread(fiber::loop, "simulated-command");
            thread.setDaemon(true);
            thread.start();
        }
        fiber.body = body;
        fiber.running = true;
        fiber.resume();
    }

    /** The fiber whose turn it is; null on the thread of the simulation. */
    @Nullable
    Fiber current() {
        return current;
    }

    /** Ends all threads. */
    void end() {
        over = true;
        for (Fiber fiber : all) {
            fiber.resume();
            fiber.turn.release();
        }
    }
}
