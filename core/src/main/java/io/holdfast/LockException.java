package io.holdfast;

import io.holdfast.spi.Names;
import org.jspecify.annotations.Nullable;

/** The superclass of all failures of a lock. A bad argument is an {@link IllegalArgumentException} instead. */
public abstract sealed class LockException extends RuntimeException
        permits DeadlockException,
                LeaseLostException,
                LockClientClosedException,
                LockStoreException,
                LockTimeoutException {

    private static final long serialVersionUID = 1;

    /** Makes the message printable, because the names and the servers' words in it may be any text. */
    LockException(String message, @Nullable Throwable cause) {
        super(Names.printable(message), cause);
    }
}
