package io.holdfast;

import io.holdfast.spi.StoreException;
import java.util.concurrent.CompletionException;
import org.jspecify.annotations.Nullable;

/** Converts the failure of a store's stage into the one type that the engine handles. */
final class StoreErrors {

    private StoreErrors() {}

    static StoreException of(@Nullable Throwable error) {
        Throwable cause = error instanceof CompletionException && error.getCause() != null ? error.getCause() : error;
        if (cause instanceof StoreException known) {
            return known;
        }
        // The store breaks its contract; the command may have been executed.
        return new StoreException(StoreException.Outcome.UNKNOWN, "The store failed unexpectedly: " + cause, cause);
    }
}
