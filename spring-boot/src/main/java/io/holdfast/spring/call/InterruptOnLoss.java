package io.holdfast.spring.call;

import io.holdfast.MultiLease;
import java.util.concurrent.locks.ReentrantLock;

/** Interrupts the thread that made it when a lease is lost, but never after {@link #close}. */
public final class InterruptOnLoss {

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

    /** By the thread itself. An interrupt that the method did not take notice of was for the method: it goes. */
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
