package io.holdfast.spi;

import org.jspecify.annotations.Nullable;

/**
 * What a store knows of a name.
 *
 * @param holder what holds the name, as the store shows it: a holder id, or a description of anything else; null if the name is free
 * @param remainingMillis time left if it is not renewed; {@link AcquireReply.Busy#NO_EXPIRY} if without end; 0 if free
 * @param base the base of the present hold's tokens, or 0 if unknown or foreign
 * @param waiting how many clients are in the store's queue
 */
public record StoreState(@Nullable String holder, long remainingMillis, long base, int waiting) {

    /** Returns the state of a free name. */
    public static StoreState free(int waiting) {
        return new StoreState(null, 0, 0, waiting);
    }
}
