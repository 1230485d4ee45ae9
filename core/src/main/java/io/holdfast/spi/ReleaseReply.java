package io.holdfast.spi;

import org.jspecify.annotations.Nullable;

/**
 * The store's answer to a release.
 *
 * <pre>{@code
 * return new ReleaseReply(true, null);       // the hold has ended
 * return new ReleaseReply(false, null);      // the id did not hold the name
 * }</pre>
 *
 * @param wasHeld whether this execution ended the hold; false if the id did not hold the name, or no longer
 * @param requeued the answer to the acquisition to requeue; null if there was none or {@code wasHeld} is false
 */
public record ReleaseReply(boolean wasHeld, @Nullable AcquireReply requeued) {}
