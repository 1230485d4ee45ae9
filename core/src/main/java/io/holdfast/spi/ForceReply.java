package io.holdfast.spi;

/**
 * The store's answer to a release by force.
 *
 * <pre>{@code
 * store.forceRelease("order:42", "hf-a:7").thenAccept(reply -> {
 *     if (reply instanceof ForceReply.HeldBy other) {
 *         log.info("not released: {} holds it now", other.holder());
 *     }
 * });
 * }</pre>
 */
public sealed interface ForceReply {

    /**
     * This execution ended the hold.
     *
     * @param holder whose hold it was, as {@link StoreState} shows it
     */
    record Ended(String holder) implements ForceReply {}

    /** No holder has the name; nothing was done. */
    record Free() implements ForceReply {}

    /**
     * This holder has the name, and not the expected one; nothing was done.
     *
     * @param holder as {@link StoreState} shows it
     */
    record HeldBy(String holder) implements ForceReply {}

    /** Returns whether this execution ended a hold. */
    default boolean isEnded() {
        return this instanceof Ended;
    }
}
