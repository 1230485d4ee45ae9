package io.holdfast;

/**
 * The lock was held by others for as long as the caller was willing to wait; or the store had not answered by then, which the
 * message says. Nothing is left behind.
 */
public final class LockTimeoutException extends LockException {

    private static final long serialVersionUID = 1;

    LockTimeoutException(String message) {
        super(message, null);
    }
}
