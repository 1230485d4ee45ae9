package io.holdfast.spi;

import org.jspecify.annotations.Nullable;

/**
 * A request to end a hold.
 *
 * <pre>{@code
 * store.release(ReleaseRequest.of("order:42", holderId));
 * }</pre>
 *
 * @param name the lock name
 * @param holderId the id that holds
 * @param requeue the acquisition to put into the queue in the same step, or null. It is queued only if this very
 *     execution released the hold; it may be granted at once if nobody else waits
 */
public record ReleaseRequest(
        String name, String holderId, @Nullable AcquireRequest requeue) {

    /** Returns a request that only ends the hold. */
    public static ReleaseRequest of(String name, String holderId) {
        return new ReleaseRequest(name, holderId, null);
    }

    /** Returns a request that ends the hold and puts the next acquisition of the name into the queue. */
    public static ReleaseRequest requeueing(String name, String holderId, AcquireRequest next) {
        return new ReleaseRequest(name, holderId, next);
    }

    /** Returns this request for the name that another store uses. */
    public ReleaseRequest named(String other) {
        return new ReleaseRequest(other, holderId, requeue == null ? null : requeue.named(other));
    }
}
