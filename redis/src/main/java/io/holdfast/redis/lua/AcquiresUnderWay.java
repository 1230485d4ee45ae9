package io.holdfast.redis.lua;

import io.holdfast.redis.connect.StageGuard;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The acquires of one client that may still queue. An acquire is not always one command, in order with a withdrawal of its
 * id: so the withdrawal must know of it. Thread-safe.
 */
public final class AcquiresUnderWay {

    private final ConcurrentMap<String, CompletionStage<?>> byId = new ConcurrentHashMap<>();

    /** Remembers the id from before the acquire begins until it has ended. */
    public <T> CompletionStage<T> during(String id, Supplier<CompletionStage<T>> acquire) {
        CompletableFuture<T> outcome = new CompletableFuture<>();
        byId.put(id, outcome);
        StageGuard.begin(acquire).whenComplete((reply, error) -> {
            // Before anybody hears of it: who withdraws because of the answer comes after it.
            byId.remove(id, outcome);
            if (error == null) {
                outcome.complete(reply);
            } else {
                outcome.completeExceptionally(error);
            }
        });
        return outcome;
    }

    /** Completes when the acquire of this id ends; null if none is under way. */
    @Nullable
    public CompletionStage<?> of(String id) {
        return byId.get(id);
    }
}
