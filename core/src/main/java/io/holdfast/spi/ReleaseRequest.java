package io.holdfast.spi;

import org.jspecify.annotations.Nullable;

/**
 * A request to end a hold.
 *
 * <pre>{@code
 * store.release(new ReleaseRequest("order:42", holderId, null));
 * }</pre>
 *
 * @param name the lock name
 * @param holderId the id that holds
 * @param requeue the acquisition to put into the queue in the same step, or null. It is queued only if this very
 *     execution released the hold; it may be granted at once if nobody else waits
 */
public record ReleaseRequest(
        String name, String holderId, @Nullable AcquireRequest requeue) {}
