package io.holdfast.redis.connect;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;

/** What {@link CompletionStage} lacks. */
public final class Stages {

    private Stages() {}

    /** What the command returns, or a failed stage with whatever it throws: also an error, or who waits would wait for ever. */
    public static <T> CompletionStage<T> begin(Supplier<CompletionStage<T>> command) {
        try {
            return command.get();
        } catch (Throwable e) {
            return CompletableFuture.failedFuture(e);
        }
    }
}
