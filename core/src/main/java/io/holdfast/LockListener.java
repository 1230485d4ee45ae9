package io.holdfast;

import java.time.Duration;

/**
 * Receives a client's lock events, for metrics and logs.
 *
 * <p>The client calls it on its callback executor, some time after the event and, for one lease, not necessarily in
 * order. The client logs an exception and otherwise ignores it.
 */
public interface LockListener {

    /** The ways in which a wait ends without a lease. */
    enum Outcome {
        /** Others held the lock for all of the wait time. */
        TIMED_OUT,

        /** The caller was interrupted, or cancelled its stage. */
        WITHDRAWN,

        /** The store failed, or the client was closed. */
        FAILED
    }

    /** Called when a lease was handed out after this wait. */
    default void acquired(String name, long fencingToken, Duration waited) {}

    /** Called when a wait ended without a lease: timed out, interrupted, cancelled or failed. */
    default void notAcquired(String name, Duration waited, Outcome how, String why) {}

    /** Called when the owner released a lease after holding it for this time. */
    default void released(String name, long fencingToken, Duration held) {}

    /** Called when a lease was lost. */
    default void lost(String name, long fencingToken, String why) {}

    /** Called when a renewal failed; the client tries again while the hold lasts. */
    default void renewalFailed(String name, Throwable cause) {}
}
