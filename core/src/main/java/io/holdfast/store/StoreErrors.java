package io.holdfast.store;

import io.holdfast.LockStoreException;
import io.holdfast.spi.StoreException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** The failures of stages; that of a store's command becomes the one type that the engine handles. */
public final class StoreErrors {

    private StoreErrors() {}

    /** Returns the stage of a command, which fails if the command throws. */
    public static <T> CompletionStage<T> sent(Supplier<CompletionStage<T>> command) {
        try {
            return command.get();
        } catch (Throwable e) {
            // Even an Error, such as a missing class or the end of a caller's stack, must not leave a caller waiting
            // forever.
            return CompletableFuture.failedFuture(e);
        }
    }

    /** Returns what a stage failed with, without the wrapper that dependent stages put around it. */
    public static Throwable cause(Throwable error) {
        Throwable cause = error instanceof CompletionException ? error.getCause() : null;
        return cause == null ? error : cause;
    }

    /**
     * Returns the first cause of a failure, without what repeats it on the way; null if the store itself is the first.
     * An exception of a store quotes its cause in one sentence.
     */
    public static @Nullable Throwable origin(Throwable failure) {
        Throwable first = failure;
        while (first.getCause() != null) {
            first = first.getCause();
        }
        return first instanceof StoreException ? null : first;
    }

    /** Returns the user's exception, with the cause of the store's: the store's message would only repeat the new one. */
    public static LockStoreException toUser(StoreException failure, String store) {
        return new LockStoreException(
                String.valueOf(failure.getMessage()),
                store,
                origin(failure),
                failure.outcome() == StoreException.Outcome.FATAL);
    }

    public static StoreException of(@Nullable Throwable error) {
        Throwable cause = error == null ? null : cause(error);
        if (cause instanceof StoreException known) {
            return known;
        }
        // The store breaks its contract; the command may have been executed.
        return new StoreException(StoreException.Outcome.UNKNOWN, "The store failed unexpectedly: " + cause, cause);
    }
}
