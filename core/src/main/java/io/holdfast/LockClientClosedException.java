package io.holdfast;

/**
 * Thrown when the client was closed before the call, or while the caller waited.
 *
 * <pre>{@code
 * try {
 *     locks.run("report", lease -> write(report));
 * } catch (LockClientClosedException e) {
 *     log.info("The application stops, so the report was not written");
 * }
 * }</pre>
 */
public final class LockClientClosedException extends LockException {

    private static final long serialVersionUID = 1;

    /** Creates an exception; public so that tests can throw it. */
    public LockClientClosedException(String message) {
        super(message, null);
    }
}
