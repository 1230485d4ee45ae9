package io.holdfast.spi;

import org.jspecify.annotations.Nullable;

/**
 * The store's answer to a release.
 *
 * <pre>{@code
 * return ReleaseReply.released();       // the hold has ended
 * return ReleaseReply.notHeld();        // the id did not hold the name
 * }</pre>
 *
 * @param wasHeld whether this execution ended the hold; false if the id did not hold the name, or no longer
 * @param requeued the answer to the acquisition to requeue; null if there was none or {@code wasHeld} is false
 */
public record ReleaseReply(boolean wasHeld, @Nullable AcquireReply requeued) {

    /** Returns the answer that this execution ended the hold, and that there was nothing to requeue. */
    public static ReleaseReply released() {
        return of(true);
    }

    /** Returns the answer that the id did not hold the name, or no longer. */
    public static ReleaseReply notHeld() {
        return of(false);
    }

    /** Returns the answer without an acquisition that was requeued. */
    public static ReleaseReply of(boolean wasHeld) {
        return new ReleaseReply(wasHeld, null);
    }

    /** Returns the answer that this execution ended the hold and requeued the acquisition, with this outcome. */
    public static ReleaseReply requeued(AcquireReply reply) {
        return new ReleaseReply(true, reply);
    }
}
