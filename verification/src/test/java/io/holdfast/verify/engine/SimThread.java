package io.holdfast.verify.engine;

import io.holdfast.Lease;
import io.holdfast.LockException;
import io.holdfast.engine.VerifyEngine.WaitingThread;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/** A thread that waits for a lock: does what the thread in the engine does, when its turn comes. */
final class SimThread {
    private final Simulation simulation;
    private final SimProcess process;
    private final WaitingThread waiter;
    private final BiConsumer<@Nullable Lease, @Nullable Throwable> outcome;
    private boolean woken;

    /** It was interrupted; perhaps after it had been woken, and before its turn came. */
    private boolean gone;

    SimThread(
            Simulation simulation,
            SimProcess process,
            WaitingThread waiter,
            BiConsumer<@Nullable Lease, @Nullable Throwable> outcome) {
        this.simulation = simulation;
        this.process = process;
        this.waiter = waiter;
        this.outcome = outcome;
        simulation.threads.add(this);
    }

    void wakeIfRunnable() {
        if (waiter.isRunnable() && !woken) {
            woken = true;
            process.time.schedule(simulation.random.nextLong(500_000), this::run);
        }
    }

    private void run() {
        woken = false;
        if (gone) {
            return;
        }
        if (!waiter.isDone()) {
            waiter.claim();
            return;
        }
        simulation.threads.remove(this);
        Lease lease = null;
        LockException why = null;
        try {
            lease = waiter.leaseOrThrow();
        } catch (LockException e) {
            why = e;
        }
        outcome.accept(lease, why);
    }

    /** False if there has been another outcome. */
    boolean interrupt() {
        if (waiter.isDone() || !waiter.withdraw()) {
            return false;
        }
        gone = true;
        simulation.threads.remove(this);
        outcome.accept(null, new InterruptedException());
        return true;
    }
}
