package io.holdfast.testkit.torture;

import java.time.Duration;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The lock under torture, in one worker process. Thread-safe.
 *
 * @see <a href="https://github.com/holdfast-lock/holdfast/blob/main/docs/verification.md#3-torture">Torture</a>
 */
public interface TortureLock {

    /**
     * Waits for a lease. Every exception counts as a failure of the store.
     *
     * @param lease a fixed length, or null for a lease that is renewed
     * @return empty if the wait ended without a lease
     */
    Optional<Grip> acquire(String name, Duration wait, @Nullable Duration lease) throws InterruptedException;

    /**
     * Waits for so many permits of a name, as {@link #acquire} does for a lock. Called only in a torture {@linkplain
     * Torture#withShares with permits}.
     *
     * @param limit how many permits there are
     */
    default Optional<Grip> acquirePermits(String name, int weight, int limit, Duration wait, @Nullable Duration lease)
            throws InterruptedException {
        throw new UnsupportedOperationException("no permits");
    }

    /**
     * Waits for a read-write lock, as {@link #acquire} does for a lock. Called only in a torture {@linkplain
     * Torture#withShares with readers}.
     *
     * @param isWriter whether all others are excluded, and not only writers
     */
    default Optional<Grip> acquireShare(String name, boolean isWriter, Duration wait, @Nullable Duration lease)
            throws InterruptedException {
        throw new UnsupportedOperationException("no read-write locks");
    }

    /** A lease. Used by the thread that acquired it. */
    interface Grip {

        /** Returns the fencing token, or -1 if the lock has none. */
        long token();

        /** Returns whether the lease is valid now. */
        boolean isValid();

        /** Releases the lease. Returns false or throws if the lease was lost, or if that is not known. */
        boolean release();
    }
}
