package io.holdfast.testkit.torture;

import java.time.Duration;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The lock that is tortured, as one worker process sees it. Thread-safe. */
public interface TortureLock {

    /**
     * Waits for a lease. Anything thrown counts as a failure of the store.
     *
     * @param lease a fixed length, or null for a lease that is renewed
     * @return empty if the wait was in vain
     */
    Optional<Grip> acquire(String name, Duration wait, @Nullable Duration lease) throws InterruptedException;

    /** A lease. Used by the thread that acquired it. */
    interface Grip {

        /** Its fencing token, or -1 if the lock has none. */
        long token();

        /** Whether it is valid now. */
        boolean isValid();

        /** Gives it up. False, or anything thrown: it had been lost, or that is not known. */
        boolean release();
    }
}
