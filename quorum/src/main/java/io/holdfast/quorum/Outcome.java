package io.holdfast.quorum;

import io.holdfast.spi.StoreException;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** A verdict, or why there is none: a round's judge returns this, as it has no stage to fail. */
record Outcome<T>(@Nullable T value, @Nullable StoreException failure) {

    static <T> Outcome<T> of(T value) {
        return new Outcome<>(value, null);
    }

    /** Null for null: not decided yet. */
    static <T> @Nullable Outcome<T> ofNullable(@Nullable T value) {
        return value == null ? null : new Outcome<>(value, null);
    }

    static <T> Outcome<T> failed(StoreException why) {
        return new Outcome<>(null, why);
    }

    CompletableFuture<T> stage() {
        CompletableFuture<T> stage = new CompletableFuture<>();
        if (value != null) {
            stage.complete(value);
        } else {
            stage.completeExceptionally(
                    failure != null ? failure : new IllegalStateException("neither a value nor a failure"));
        }
        return stage;
    }
}
