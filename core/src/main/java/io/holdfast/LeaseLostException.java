package io.holdfast;

/** The lease ended before it was released: what was done under it may have overlapped with another holder's work. */
public final class LeaseLostException extends LockException {

    private static final long serialVersionUID = 1;

    LeaseLostException(String message) {
        super(message, null);
    }
}
