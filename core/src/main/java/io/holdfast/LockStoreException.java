package io.holdfast;

import io.holdfast.spi.StoreException;
import org.jspecify.annotations.Nullable;

/**
 * Thrown when the store failed. A lock that was asked for was not taken, and is not known to be busy; a release that was to
 * keep the name locked is not confirmed. The message says what the store said.
 */
public final class LockStoreException extends LockException {

    private static final long serialVersionUID = 1;

    private final String store;

    /**
     * Creates an exception; public so that tests can throw it.
     *
     * @param store describes the store, without secrets
     */
    public LockStoreException(String message, String store, @Nullable Throwable cause) {
        super(message, cause);
        this.store = store;
    }

    LockStoreException(StoreException cause, String store) {
        this(String.valueOf(cause.getMessage()), store, cause);
    }

    /** Returns a description of the store that failed, without secrets. */
    public String store() {
        return store;
    }
}
