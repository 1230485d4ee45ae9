package io.holdfast;

import io.holdfast.spi.StoreException;
import org.jspecify.annotations.Nullable;

/** The store failed, so the lock was not taken. It is not known to be busy; the message says what the store said. */
public final class LockStoreException extends LockException {

    private static final long serialVersionUID = 1;

    LockStoreException(StoreException cause) {
        this(String.valueOf(cause.getMessage()), cause);
    }

    LockStoreException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
