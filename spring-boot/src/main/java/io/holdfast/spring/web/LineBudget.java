package io.holdfast.spring.web;

import java.time.Duration;
import java.util.concurrent.locks.ReentrantLock;

/** Bounds the lines of one kind: the first few of each window are logged, and the next line says how many were not. */
final class LineBudget {

    static final int LINES = 10;
    static final Duration WINDOW = Duration.ofSeconds(10);

    private final ReentrantLock lock = new ReentrantLock(); // a leaf
    private boolean begun; // by lock
    private long windowNanos; // by lock; when the present window began
    private int used; // by lock; lines of the present window
    private long others; // by lock; lines that were not logged since the last one that was

    /** Returns how many lines were left out since the last one, or −1 if this one is to be left out, too. */
    long admit(long nowNanos) {
        lock.lock();
        try {
            if (!begun || nowNanos - windowNanos >= WINDOW.toNanos()) {
                begun = true;
                windowNanos = nowNanos;
                used = 0;
            }
            if (used == LINES) {
                others++;
                return -1;
            }
            used++;
            long before = others;
            others = 0;
            return before;
        } finally {
            lock.unlock();
        }
    }
}
