package io.holdfast;

import org.jspecify.annotations.Nullable;

/**
 * Thrown when the store failed, or answered nothing during a whole wait for a lock. If a method that acquires throws
 * it, the lock was not taken, and may be free or busy. {@link Lease#extend} throws it if the store did not confirm the
 * new time, and {@link Lease#releaseHoldingAtLeast(Duration)} if it did not confirm that the name stays
 * locked. The message contains the store's own words.
 *
 * <pre>{@code
 * try (Lease lease = locks.acquire("report")) {
 *     write(report);
 * } catch (LockStoreException e) {
 *     alerts.send("No report, because " + e.store() + " failed: " + e.getMessage());
 * }
 * }</pre>
 */
public final class LockStoreException extends LockException {

    private static final long serialVersionUID = 1;

    private final String store;
    private final boolean fatal;

    /**
     * Creates an exception; public so that tests can throw it.
     *
     * @param store describes the store, without secrets
     */
    public LockStoreException(String message, String store, @Nullable Throwable cause) {
        this(message, store, cause, false);
    }

    /**
     * Creates an exception; public so that tests can throw it.
     *
     * @param store describes the store, without secrets
     * @param fatal what {@link #isFatal} returns
     */
    public LockStoreException(String message, String store, @Nullable Throwable cause, boolean fatal) {
        super(message, cause);
        this.store = store;
        this.fatal = fatal;
    }

    /** Returns a description of the store that failed, without secrets. */
    public String store() {
        return store;
    }

    /**
     * Returns whether the same call cannot succeed until an operator or the program changes something, such as a
     * password or a right. False if it may succeed later.
     */
    public boolean isFatal() {
        return fatal;
    }
}
