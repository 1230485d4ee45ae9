package io.holdfast.engine;

import org.jspecify.annotations.Nullable;

/** A wait as its observers follow it, from {@link LockEvents#asking} on. */
public interface WaitTrace {

    /** Returns the caller's trace in the form {@code traceparent}; null if there is none. */
    @Nullable
    String traceParent();

    /**
     * The caller waits for the end of a lease of this client. Under the name's lock.
     *
     * @param traceParent the trace in which that lease was acquired
     */
    void waitsForOwn(String holderId, @Nullable String traceParent);

    /** The caller waits for the end of this hold, perhaps the same as before; null if it is not known. Under the name's lock. */
    void waitsFor(@Nullable String holderId);

    /** The caller receives the outcome. Called by the thread that waited, or that completes the stage. */
    void onDelivered();
}
