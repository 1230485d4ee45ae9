package io.holdfast.leader;

import java.util.concurrent.locks.ReentrantLock;

/** Interrupts its creator thread at the loss of what its work needs, but never after {@link #close}. */
public final class Interrupts {

    private final Thread thread = Thread.currentThread();
    private final ReentrantLock lock = new ReentrantLock();
    private boolean over; // by lock
    private boolean interrupted; // by lock

    /** Interrupts the thread, from any thread. */
    public void interrupt() {
        lock.lock();
        try {
            if (!over) {
                interrupted = true;
                thread.interrupt();
            }
        } finally {
            lock.unlock();
        }
    }

    /**
     * Ends the work. Called by the thread itself. Clears an interrupt that was meant for the method and that the method
     * did not notice.
     */
    public void close() {
        lock.lock();
        try {
            over = true;
            if (interrupted) {
                Thread.interrupted();
            }
        } finally {
            lock.unlock();
        }
    }
}
