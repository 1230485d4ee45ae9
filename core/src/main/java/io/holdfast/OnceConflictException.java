package io.holdfast;

/**
 * Thrown by work that is done once ({@link StoreOnce}, {@code JdbcOnce}) if the key was used for other work: its
 * fingerprint is another one. The work was not done. The caller must use a new key, or repeat exactly what it sent
 * before.
 *
 * @see <a href="https://github.com/holdfast-lock/holdfast/blob/main/docs/idempotent.md#what-is-promised">What is
 *     promised</a>
 */
public final class OnceConflictException extends IllegalArgumentException {

    private static final long serialVersionUID = 1;

    /** Creates an exception; public so that other modules and tests can throw it. */
    public OnceConflictException(String message) {
        super(message);
    }
}
