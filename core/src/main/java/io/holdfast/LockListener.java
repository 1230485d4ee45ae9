package io.holdfast;

import java.time.Duration;

/**
 * Receives a client's lock events, for metrics and logs.
 *
 * <p>The client calls it on its callback executor, some time after the fact and, for one lease, not necessarily in order. An exception
 * is logged and otherwise ignored.
 */
public interface LockListener {

    /** How a wait ended without a lease. */
    enum Outcome {
        /** Others held the lock for all of the wait time. */
        TIMED_OUT,

        /** The caller was interrupted, or cancelled its stage. */
        WITHDRAWN,

        /** The store failed, or the client was closed. */
        FAILED
    }

    /** A lease was handed out after this time of waiting. */
    default void acquired(String name, long fencingToken, Duration waited) {}

    /** A wait ended without a lease: timed out, interrupted, cancelled or failed. */
    default void notAcquired(String name, Duration waited, Outcome how, String why) {}

    /** A lease was released by its owner after being held for this time. */
    default void released(String name, long fencingToken, Duration held) {}

    /** A lease was lost. */
    default void lost(String name, long fencingToken, String why) {}

    /** A renewal failed and will be tried again while the hold lasts. */
    default void renewalFailed(String name, Throwable cause) {}
}
