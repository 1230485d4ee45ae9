package io.holdfast.testkit;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Watches the critical section of one lock. It records when two callers are inside at once, and when a fencing token is
 * not larger than the token before it.
 *
 * <pre>{@code
 * OverlapDetector detector = new OverlapDetector("order:42");
 * locks.run("order:42", lease -> {      // on several threads
 *     detector.enter(lease.fencingToken());
 *     orders.refund(42);
 *     detector.leave();
 * });
 * detector.assertClean();               // when all threads have ended
 * }</pre>
 *
 * <p>Call {@link #enter} when the lock is held and {@link #leave} before it is released. Thread-safe: all threads and
 * clients of this process share one detector for each lock name.
 */
public final class OverlapDetector {

    /** Enough to see the pattern; without a limit, a broken lock would fill the memory. */
    private static final int MAX_VIOLATIONS = 100;

    private final String name;
    private final ReentrantLock lock = new ReentrantLock();
    private final List<String> inside = new ArrayList<>(); // by lock
    private final List<String> violations = new ArrayList<>(); // by lock
    private long lastToken; // by lock
    private long entries; // by lock
    private long found; // by lock

    /**
     * Makes a detector for one critical section.
     *
     * @param name the lock's name, for the messages
     */
    public OverlapDetector(String name) {
        this.name = name;
    }

    /**
     * Records that a caller has entered.
     *
     * @param token the fencing token of the caller's lease
     */
    public void enter(long token) {
        String entrant = "token " + token + " on " + Thread.currentThread().getName();
        lock.lock();
        try {
            entries++;
            if (!inside.isEmpty()) {
                violation(entrant + " entered while " + String.join(" and ", inside) + " was inside");
            }
            if (entries > 1 && token <= lastToken) {
                violation(entrant + " came after token " + lastToken);
            }
            lastToken = token;
            inside.add(entrant);
        } finally {
            lock.unlock();
        }
    }

    /** Records that a caller leaves, on any thread. */
    public void leave() {
        lock.lock();
        try {
            if (inside.isEmpty()) {
                violation("somebody left on " + Thread.currentThread().getName() + " while nobody was inside");
            } else {
                inside.remove(0);
            }
        } finally {
            lock.unlock();
        }
    }

    /** Returns how many times callers have entered. */
    public long entries() {
        lock.lock();
        try {
            return entries;
        } finally {
            lock.unlock();
        }
    }

    /** Returns the first hundred violations, each as a sentence; empty if the lock was exclusive. */
    public List<String> violations() {
        lock.lock();
        try {
            return List.copyOf(violations);
        } finally {
            lock.unlock();
        }
    }

    /**
     * Fails if there was a violation.
     *
     * @throws AssertionError if there was; lists the violations
     */
    public void assertClean() {
        lock.lock();
        try {
            if (found > 0) {
                throw new AssertionError(
                        found + " violations in " + entries + " entries:\n" + String.join("\n", violations));
            }
        } finally {
            lock.unlock();
        }
    }

    private void violation(String sentence) {
        found++;
        if (violations.size() < MAX_VIOLATIONS) {
            violations.add(name + ": " + sentence);
        }
    }
}
