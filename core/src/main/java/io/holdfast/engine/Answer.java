package io.holdfast.engine;

import io.holdfast.LeaseLostException;
import io.holdfast.LockException;
import io.holdfast.LockStoreException;
import io.holdfast.spi.StageWait;
import io.holdfast.store.StoreErrors;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The answer to a call of a lease's user. A thread waits for it, or a stage receives it.
 *
 * @param sent completes with the engine's answer, or fails with a {@link LockStoreException}
 * @param meaning receives the answer, and throws what it means for the caller
 * @param executor runs the delivery to a stage
 */
record Answer<T extends @Nullable Object>(CompletionStage<T> sent, Consumer<T> meaning, Executor executor) {

    /** Waits for the answer, even when interrupted: the store's command timeout bounds the wait. */
    void await() {
        T answer;
        try {
            answer = StageWait.join(sent);
        } catch (CompletionException e) {
            throw e.getCause() instanceof LockStoreException failed ? Waiter.rethrown(failed) : e;
        }
        meaning.accept(answer);
    }

    CompletionStage<Void> stage() {
        CompletableFuture<Void> done = new CompletableFuture<>();
        sent.whenComplete((answer, failed) -> executor.execute(() -> {
            if (failed != null) {
                done.completeExceptionally(failed);
                return;
            }
            try {
                meaning.accept(answer);
                done.complete(null);
            } catch (LeaseLostException | IllegalStateException ended) {
                done.completeExceptionally(ended);
            }
        }));
        return done;
    }

    /** Waits for each of them, and then throws the first failure. */
    static void awaitAll(List<? extends Answer<?>> all) {
        LockException failed = null;
        for (Answer<?> each : all) {
            try {
                each.await();
            } catch (LeaseLostException | LockStoreException e) {
                if (failed == null) {
                    failed = e;
                } else {
                    failed.addSuppressed(e);
                }
            }
        }
        if (failed != null) {
            throw failed;
        }
    }

    /** Returns a stage that ends when all have ended, and fails as one of them. */
    static CompletionStage<Void> stageOfAll(List<? extends Answer<?>> all) {
        CompletableFuture<Void> done = new CompletableFuture<>();
        CompletionStage<Void> ended = CompletableFuture.allOf(
                all.stream().map(each -> each.stage().toCompletableFuture()).toArray(CompletableFuture[]::new));
        ended.whenComplete((nothing, why) -> {
            if (why == null) {
                done.complete(null);
            } else {
                done.completeExceptionally(StoreErrors.cause(why));
            }
        });
        return done;
    }
}
