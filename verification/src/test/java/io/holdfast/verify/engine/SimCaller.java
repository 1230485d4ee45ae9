package io.holdfast.verify.engine;

import io.holdfast.spi.TimeSource;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.Executor;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * A thread of a simulated process that makes one call after the other. A call may wait, and be interrupted, so this is a
 * real thread; but it runs only while the simulation stands still, from one wait to the next.
 */
final class SimCaller implements Executor {

    /** Ends a call whose simulation is over. */
    private static final class Over extends Error {
        private static final long serialVersionUID = 1;

        Over() {
            super("the simulation is over", null, false, false);
        }
    }

    private final SimTime time;

    /** How long the thread takes to begin the next call, or to notice an interrupt. */
    private final LongSupplier delayNanos;

    private final Body thread = new Body();
    private final Semaphore threadsTurn = new Semaphore(0);
    private final Semaphore simulationsTurn = new Semaphore(0);

    /** The present call, if one has begun, and those after it. */
    private final Queue<Runnable> calls = new ArrayDeque<>();

    /** The end of the call's wait; null if it does not wait. */
    private TimeSource.@Nullable Timer alarm;

    /** Whether an interrupt ends the wait, and has not yet. */
    private boolean interruptible;

    private boolean over;

    /** What a call threw. */
    private @Nullable Throwable failure;

    SimCaller(SimTime time, LongSupplier delayNanos) {
        this.time = time;
        this.delayNanos = delayNanos;
    }

    private final class Body extends Thread {

        /** As {@link #isInterrupted}, which is false while the thread waits for its turn. */
        private volatile boolean wasInterrupted;

        private final AtomicInteger interrupts = new AtomicInteger();

        Body() {
            super("simulated");
            setDaemon(true);
        }

        @Override
        public void interrupt() {
            wasInterrupted = true;
            interrupts.incrementAndGet();
            super.interrupt();
        }

        @Override
        public void run() {
            threadsTurn.acquireUninterruptibly();
            try {
                while (!over) {
                    calls.element().run();
                    calls.remove();
                    if (!over) {
                        endTurn();
                    }
                }
            } catch (Throwable e) {
                failure = e;
                over = true;
            }
            simulationsTurn.release();
        }
    }

    /** Whether this thread is the calling one. */
    boolean isCalling() {
        return Thread.currentThread() == thread;
    }

    /** How often the thread has been interrupted. */
    int interrupts() {
        return thread.interrupts.get();
    }

    @Override
    public void execute(Runnable call) {
        calls.add(call);
        if (calls.size() == 1) {
            beginLater();
        }
    }

    private void beginLater() {
        time.schedule(delayNanos.getAsLong(), this::turn);
    }

    /** Waits within a call. */
    void sleep(long nanos) {
        interruptible = false;
        pause(nanos);
    }

    /** Waits within a call, until the thread is interrupted. */
    void sleepUntilInterrupted(long nanos) throws InterruptedException {
        interruptible = true;
        if (!thread.wasInterrupted) {
            pause(nanos);
        }
        interruptible = false;
        if (clearInterrupt()) {
            throw new InterruptedException();
        }
    }

    /** Forgets an interrupt; returns whether there was one. */
    boolean clearInterrupt() {
        boolean was = Thread.interrupted();
        thread.wasInterrupted = false;
        return was;
    }

    private void pause(long nanos) {
        alarm = time.schedule(nanos, this::turn);
        endTurn();
        alarm = null;
        if (over) {
            throw new Over();
        }
    }

    /** Lets a call that was interrupted go on, after its delay. */
    void look() {
        TimeSource.Timer waits = alarm;
        if (waits != null && interruptible && thread.wasInterrupted) {
            interruptible = false;
            waits.cancel();
            alarm = time.schedule(delayNanos.getAsLong(), this::turn);
        }
    }

    /** The simulation stands still until the thread waits or has ended its call. */
    private void turn() {
        if (thread.getState() == Thread.State.NEW) {
            thread.start();
        }
        threadsTurn.release();
        simulationsTurn.acquireUninterruptibly();
        if (failure != null) {
            throw new AssertionError("a call failed", failure);
        }
        if (alarm == null && !calls.isEmpty() && !over) {
            beginLater();
        }
    }

    private void endTurn() {
        simulationsTurn.release();
        threadsTurn.acquireUninterruptibly();
    }

    /** Ends the thread. */
    void end() {
        over = true;
        if (thread.getState() != Thread.State.NEW) {
            turn();
        }
    }
}
