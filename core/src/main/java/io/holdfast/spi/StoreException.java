package io.holdfast.spi;

import org.jspecify.annotations.Nullable;

/**
 * Why a store could not answer a command. Its message is one sentence for people; it names the server, what it said,
 * and, where there is one, the way out.
 */
public final class StoreException extends RuntimeException {

    /** What is known about the command that failed. */
    public enum Outcome {
        /** It was surely not executed; trying again may succeed. */
        NOT_EXECUTED,
        /** It may or may not have been executed, now or later; trying again may succeed. */
        UNKNOWN,
        /** It was not executed, and trying again is pointless until somebody changes something. */
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
