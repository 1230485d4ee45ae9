package io.holdfast.engine;

/** What a waiter without a wait time of its own does, and how the caller receives the end of the wait. */
public enum WaitMode {
    /** Waits as long as needed; the end of a bounded wait is an exception. */
    PATIENT,
    /** Makes one attempt; the end of a wait is an empty result. */
    TRY
}
