package io.holdfast.zookeeper;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.BiFunction;
import org.jspecify.annotations.Nullable;

/** What {@link CompletionStage} lacks. */
final class Stages {

    private Stages() {}

    /** Goes on with another stage, whether the first one has a value or an error. */
    @SuppressWarnings("FutureReturnValueIgnored") // the inner one is the outcome
    static <T, R> CompletableFuture<R> then(
            CompletableFuture<T> stage,
            BiFunction<? super @Nullable T, @Nullable Throwable, CompletableFuture<R>> next) {
        return stage.<CompletableFuture<R>>handle(next).thenCompose(after -> after);
    }
}
