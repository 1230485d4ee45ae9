package io.holdfast.spi;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The state of a name as a store knows it.
 *
 * <pre>{@code
 * store.inspect("order:42").thenAccept(state -> {
 *     if (state.holder() != null) {
 *         log.info("{} holds it for {} ms more", state.holder(), state.remainingMillis());
 *     }
 * });
 * }</pre>
 *
 * <p>If several ids hold a name of {@link LockStore#pools}, holder, time and base are those of the hold that ends first.
 *
 * @param holder the holder, as the store shows it: a holder id, or a description of another holder; null if the name is
 *     free
 * @param remainingMillis the time left if the hold is not renewed; {@link AcquireReply.Busy#NO_EXPIRY} if it has no
 *     end; 0 if the name is free
 * @param base the base of the present hold's tokens; 0 if it is unknown or the holder is no client of Holdfast
 * @param waiting how many clients are in the store's queue
 * @param used how much all present holds of a pool weigh together; 0 for a lock
 * @param held the present holds of a pool, each once; empty for a lock
 */
public record StoreState(
        @Nullable String holder, long remainingMillis, long base, int waiting, int used, List<Held> held) {

    /**
     * One hold of a pool.
     *
     * @param weight how much of the capacity it takes
     * @param remainingMillis the time left if it is not renewed
     * @param base the base of its tokens
     */
    public record Held(String holderId, int weight, long remainingMillis, long base) {}

    public StoreState {
        held = List.copyOf(held);
    }

    /** Makes the state of a lock. */
    public StoreState(@Nullable String holder, long remainingMillis, long base, int waiting) {
        this(holder, remainingMillis, base, waiting, 0, List.of());
    }

    /** Returns the state of a name of which nothing but its holder is known yet. */
    public static StoreState heldBy(String holder) {
        return heldBy(holder, 0);
    }

    /** Returns the state of a name of which nothing but its holder and the base of its tokens is known yet. */
    public static StoreState heldBy(String holder, long base) {
        return new StoreState(holder, 0, base, 0);
    }

    /** Returns the state of a free name. */
    public static StoreState free(int waiting) {
        return new StoreState(null, 0, 0, waiting);
    }
}
