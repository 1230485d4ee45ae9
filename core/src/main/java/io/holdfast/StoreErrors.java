package io.holdfast;

import io.holdfast.spi.StoreException;
import java.util.concurrent.CompletionException;
import org.jspecify.annotations.Nullable;

/** Brings whatever a store's stage failed with into the one form that the engine knows. */
final class StoreErrors {

    private StoreErrors() {}

    static StoreException of(@Nullable Throwable error) {
        Throwable cause = error instanceof CompletionException && error.getCause() != null ? error.getCause() : error;
        if (cause instanceof StoreException known) {
            return known;
        }
        // A store that breaks its contract; the command may have been executed, and asking again will not help.
        return new StoreException(StoreException.Outcome.UNKNOWN, "The store failed unexpectedly: " + cause, cause);
    }
}
