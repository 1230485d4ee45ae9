package io.holdfast.engine;

import io.holdfast.LockTimeoutException;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.function.Consumer;

/**
 * A stage whose {@code …Async} methods without an executor run on the client's callback executor instead of the common
 * pool. So a dependent runs in the same place whether or not the stage is complete when it is added.
 */
public final class CallbackStage<T> extends CompletableFuture<T> {

    private final Callbacks callbacks;

    CallbackStage(Callbacks callbacks) {
        this.callbacks = callbacks;
    }

    @Override
    public Executor defaultExecutor() {
        return callbacks::execute;
    }

    /**
     * Returns the stage of a wait that may end empty. The end of that stage by its user cancels the wait.
     *
     * @param giveBack receives a value that the returned stage does not take
     */
    CompletableFuture<Optional<T>> optional(Consumer<T> giveBack) {
        CompletableFuture<Optional<T>> optional = newIncompleteFuture();
        CompletionStage<Optional<T>> watched = optional;
        watched.whenComplete((value, why) -> cancel(false));
        CompletionStage<T> ended = this;
        ended.whenComplete((value, why) -> {
            if (why instanceof LockTimeoutException) {
                optional.complete(Optional.empty());
            } else if (why != null) {
                optional.completeExceptionally(why);
            } else if (!optional.complete(Optional.of(value))) {
                // The caller ended the stage at the last moment.
                giveBack.accept(value);
            }
        });
        return optional;
    }

    @Override
    public <U> CompletableFuture<U> newIncompleteFuture() {
        return new CallbackStage<>(callbacks);
    }
}
