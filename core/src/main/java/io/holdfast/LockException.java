package io.holdfast;

import io.holdfast.spi.Names;
import org.jspecify.annotations.Nullable;

/** What can go wrong with a lock. Bad arguments are {@link IllegalArgumentException}s instead. */
public abstract sealed class LockException extends RuntimeException
        permits LeaseLostException, LockClientClosedException, LockStoreException, LockTimeoutException {

    private static final long serialVersionUID = 1;

    /** The names and the servers' words in a message may be any text: it is made printable here, for all of them. */
    LockException(String message, @Nullable Throwable cause) {
        super(Names.printable(message), cause);
    }
}
