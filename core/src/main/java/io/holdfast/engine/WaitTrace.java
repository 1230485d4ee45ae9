package io.holdfast.engine;

import io.holdfast.LockListener;
import io.holdfast.LockTracer;
import org.jspecify.annotations.Nullable;

/** A wait as the user's {@link LockTracer} follows it. All methods but the first are called under the name's lock. */
public interface WaitTrace {

    /** Returns the caller's trace in the form {@code traceparent}; null if there is none. */
    @Nullable
    String traceParent();

    /** Notes that the caller waits for the end of a lease of this client. */
    void noteHolder(ActiveLease lease);

    /** Notes the holder that the store has named, perhaps the same as before. */
    void noteHolder(String holderId);

    /**
     * Reports the end of the wait to the tracer.
     *
     * @param failure how the wait ended without a lease; null if it ended with one
     */
    void reportEnd(EventLock<?> at, Waiter waiter, LockListener.@Nullable Outcome failure, @Nullable ActiveLease lease);
}
