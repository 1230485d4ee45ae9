package io.holdfast.spi;

import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Receives a store's messages. Most are hints: they may be missing, late, doubled or wrong. The engine
 * relies on {@link #lost}, on {@link #granted(PushedGrant)} and on {@link #connecting}.
 *
 * <pre>{@code
 * @Override
 * public void listen(StoreListener listener) {      // of a LockStore
 *     messages.onRelease(name -> listener.released(name));
 *     messages.onReconnect(() -> listener.reconnected());
 * }
 * }</pre>
 *
 * <p>Methods may be called on any thread, even on an I/O thread; they are short and do not block.
 */
public interface StoreListener {

    /**
     * Called when the store granted the name to a queued holder id. The receiver confirms the grant by a command before
     * it relies on it.
     */
    void granted(String name, String holderId);

    /**
     * Called when the store granted the name to a queued holder id, with the beginning of the hold. The receiver may
     * rely on the hold at once, for as long as that beginning allows, if the grant repeats the {@link
     * AcquireRequest#nonce} of its last request. A receiver that does not override this method receives {@link
     * #granted(String, String)}.
     */
    default void granted(PushedGrant grant) {
        granted(grant.name(), grant.holderId());
    }

    /** Called when another client has begun to wait in the store's queue behind this holder id. */
    void contended(String name, String holderId);

    /**
     * Called when a client has ended the hold of this holder id by force. The receiver asks the store at once, and only
     * the answer ends a lease.
     */
    default void forced(String name, String holderId) {}

    /** Called when the name may have become free: a waiter of this client should ask now. */
    void released(String name);

    /**
     * Called when the store no longer keeps the hold of this holder id, or can no longer promise it. The engine relies
     * on this message: the lease on the hold ends at once. The message may be missing; then the next renewal finds the
     * hold gone.
     */
    default void lost(String name, String holderId) {}

    /**
     * Called before a lost connection for commands is replaced; the new one takes no command until this method has
     * returned. The process may have been restored from an image since, and another process from the same image may be
     * running. A store calls this method for every such connection.
     */
    default void connecting() {}

    /** Called when the connection was lost and is back. Messages may be missing, so every waiter should ask now. */
    void reconnected();

    /**
     * Returns a listener that passes each message on to another one under another name: for a store that gives its locks
     * other names than its caller.
     *
     * @param names returns the name for the receiver; null if the message is to be dropped
     */
    static StoreListener renaming(StoreListener receiver, Function<String, @Nullable String> names) {
        return new RenamingListener(receiver, names);
    }
}
