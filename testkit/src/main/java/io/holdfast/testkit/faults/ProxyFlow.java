package io.holdfast.testkit.faults;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;

/** The faults of a {@link FaultProxy} for the bytes of one way, on all its connections. Thread-safe. */
final class ProxyFlow {

    /** Makes points in time positive numbers. */
    private static final long ORIGIN = System.nanoTime();

    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();
    private boolean held; // by lock
    private boolean dropping; // by lock
    private long delayNanos; // by lock
    private long pending; // by lock; bytes that were read and neither written nor dropped

    void hold(boolean on) {
        change(() -> held = on);
    }

    void drop(boolean on) {
        change(() -> dropping = on);
    }

    void delay(long nanos) {
        change(() -> delayNanos = nanos);
    }

    void wake() {
        change(() -> {});
    }

    long pending() {
        lock.lock();
        try {
            return pending;
        } finally {
            lock.unlock();
        }
    }

    void passed(int bytes) {
        change(() -> pending -= bytes);
    }

    /** Counts bytes that have arrived. Returns when they are due, or -1 if they are dropped. */
    long arrived(int bytes) {
        lock.lock();
        try {
            if (dropping) {
                return -1;
            }
            pending += bytes;
            return Math.max(0, System.nanoTime() - ORIGIN + delayNanos);
        } finally {
            lock.unlock();
        }
    }

    /** Waits until bytes may pass. Returns false if their connection was cut in the meantime. */
    boolean awaitPassage(long due, BooleanSupplier cut) throws InterruptedException {
        lock.lock();
        try {
            while (!cut.getAsBoolean()) {
                long early = due - (System.nanoTime() - ORIGIN);
                if (held) {
                    changed.await();
                } else if (early > 0) {
                    changed.await(early, TimeUnit.NANOSECONDS);
                } else {
                    return true;
                }
            }
            return false;
        } finally {
            lock.unlock();
        }
    }

    private void change(Runnable change) {
        lock.lock();
        try {
            change.run();
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }
}
