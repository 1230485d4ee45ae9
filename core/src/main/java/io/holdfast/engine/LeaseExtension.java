package io.holdfast.engine;

import io.holdfast.Lease;
import io.holdfast.LockStoreException;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * A call of {@link Lease#extend}.
 *
 * @param nanos the time that the lease shall have left, from the request on
 * @param answer completes when the engine has an answer, or fails with a {@link LockStoreException}
 */
record LeaseExtension(ActiveLease lease, long nanos, CompletableFuture<@Nullable Void> answer) {

    LeaseExtension(ActiveLease lease, long nanos) {
        this(lease, nanos, new CompletableFuture<>());
    }

    /** Called by the engine, once. */
    void end(@Nullable LockStoreException why) {
        if (why == null) {
            answer.complete(null);
        } else {
            answer.completeExceptionally(why);
        }
    }
}
