package io.holdfast.spi;

/**
 * Receives a store's messages. Every message but {@link #lost} is a hint: it may be missing, late, doubled or wrong.
 *
 * <p>Methods may be called on any thread, also on an I/O thread; they are short and do not block.
 */
public interface StoreListener {

    /**
     * The store granted the name to a queued holder id. The receiver confirms that by asking again before it relies on
     * it.
     */
    void granted(String name, String holderId);

    /**
     * As {@link #granted(String, String)}, from a store that can say since when: the receiver may rely on it at once, for
     * as long as that tells. A receiver that does not use it is told the other way.
     */
    default void granted(PushedGrant grant) {
        granted(grant.name(), grant.holderId());
    }

    /** Somebody has begun to wait in the store's queue behind this holder id. */
    void contended(String name, String holderId);

    /** The name may have become free: a waiter of this client had better ask now. */
    void released(String name);

    /**
     * The store does not keep the hold of this holder id any more, or cannot promise it any more. This message is taken at
     * its word: the lease on the hold ends at once. It may be missing: then the next renewal finds out.
     */
    default void lost(String name, String holderId) {}

    /**
     * A lost connection for commands is being made anew, and takes no command before this method has returned. The process may have
     * been restored from an image since, and another process from the same image may be running. A store calls this for every such
     * connection.
     */
    default void connecting() {}

    /** Messages may have been missed (the connection was lost and is back): every waiter had better ask now. */
    void reconnected();
}
