package io.holdfast;

import io.holdfast.spi.Names;
import org.jspecify.annotations.Nullable;

/**
 * The superclass of all failures of a lock. A bad argument is an {@link IllegalArgumentException} instead.
 *
 * <pre>{@code
 * try {
 *     locks.run("cache:prices", LockOptions.defaults().waitAtMost(ofSeconds(2)), lease -> cache.reload());
 * } catch (LockException e) {      // for example, others hold the lock, or the store failed
 *     log.warn("The cache may be old: {}", e.getMessage());
 * }
 * }</pre>
 */
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
