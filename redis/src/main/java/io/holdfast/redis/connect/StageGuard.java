package io.holdfast.redis.connect;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Starts commands so that a thrown exception fails their stage. */
public final class StageGuard {

    private StageGuard() {}

    /**
     * Returns the command's stage; a failed one if the command throws, even an {@link Error}, so that no waiter hangs.
     */
    public static <T> CompletionStage<T> begin(Supplier<CompletionStage<T>> command) {
        try {
            return command.get();
        } catch (Throwable e) {
            return CompletableFuture.failedFuture(e);
        }
    }

    /** Completes a future as another stage was completed. */
    public static <T> void complete(CompletableFuture<T> outcome, @Nullable T value, @Nullable Throwable error) {
        if (error != null) {
            outcome.completeExceptionally(error);
        } else {
            outcome.complete(value);
        }
    }
}
