package io.holdfast.spi;

import org.jspecify.annotations.Nullable;

/**
 * The store's answer to a release.
 *
 * @param wasHeld whether this execution ended the hold; false if the id did not hold the name (any more)
 * @param requeued what became of the acquisition to requeue, or null if there was none or {@code wasHeld} is false
 */
public record ReleaseReply(boolean wasHeld, @Nullable AcquireReply requeued) {}
