package io.holdfast.engine;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;

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

    @Override
    public <U> CompletableFuture<U> newIncompleteFuture() {
        return new CallbackStage<>(callbacks);
    }
}
