package io.holdfast.spring.call;

import io.holdfast.MultiLease;
import java.util.concurrent.locks.ReentrantLock;

/** Interrupts its creator thread when a lease is lost, but never after {@link #close}. */
final class InterruptOnLoss {

    private final Thread thread = Thread.currentThread();
    private final ReentrantLock lock = new ReentrantLock();
    private boolean over; // by lock
    private boolean interrupted; // by lock

    InterruptOnLoss(MultiLease leases) {
        leases.onLost(lease -> interrupt());
    }

    private void interrupt() {
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
     * Ends the watch. Called by the thread itself. Clears an interrupt that was meant for the method and that the
     * method did not notice.
     */
    void close() {
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
