package io.holdfast.zookeeper;

import java.util.concurrent.CompletableFuture;
import java.util.function.BiFunction;
import org.jspecify.annotations.Nullable;

/** Chains stages over success and failure alike. */
final class StageChain {

    private StageChain() {}

    /** Goes on with another stage, whether the first one has a value or an error. */
    @SuppressWarnings("FutureReturnValueIgnored") // the inner one is the outcome
    static <T, R> CompletableFuture<R> then(
            CompletableFuture<T> stage,
            BiFunction<? super @Nullable T, @Nullable Throwable, CompletableFuture<R>> next) {
        return stage.<CompletableFuture<R>>handle(next).thenCompose(after -> after);
    }
}
