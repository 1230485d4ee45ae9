package io.holdfast;

import org.jspecify.annotations.Nullable;

/** What can go wrong with a lock. Bad arguments are {@link IllegalArgumentException}s instead. */
public abstract sealed class LockException extends RuntimeException
        permits LeaseLostException, LockClientClosedException, LockStoreException, LockTimeoutException {

    private static final long serialVersionUID = 1;

    LockException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
