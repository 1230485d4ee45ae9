package io.holdfast.spi;

import org.jspecify.annotations.Nullable;

/**
 * Thrown when a store could not answer a command. Its message is one sentence for people, which names the server, the
 * server's words and, where there is one, the way out.
 *
 * <pre>{@code
 * if (!connection.isOpen()) {
 *     return CompletableFuture.failedFuture(new StoreException(
 *             StoreException.Outcome.NOT_EXECUTED, "table://db1 is not connected; trying to reconnect", null));
 * }
 * }</pre>
 */
public final class StoreException extends RuntimeException {

    /** The fate of the command that failed, as far as it is known. */
    public enum Outcome {
        /** The command was certainly not executed; trying again may succeed. */
        NOT_EXECUTED,
        /** The command may have been executed, or may be executed later; trying again may succeed. */
        UNKNOWN,
        /**
         * The command was not executed, and trying again cannot succeed until an operator or the program changes
         * something.
         */
        FATAL
    }

    private static final long serialVersionUID = 1;

    private final Outcome outcome;

    public StoreException(Outcome outcome, String message, @Nullable Throwable cause) {
        super(message, cause);
        this.outcome = outcome;
    }

    public Outcome outcome() {
        return outcome;
    }
}
