package io.holdfast;

/** The client was closed while the lock was waited for, or before. */
public final class LockClientClosedException extends LockException {

    private static final long serialVersionUID = 1;

    LockClientClosedException(String message) {
        super(message, null);
    }
}
