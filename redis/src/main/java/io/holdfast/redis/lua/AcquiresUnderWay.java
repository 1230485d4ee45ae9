package io.holdfast.redis.lua;

import io.holdfast.redis.connect.StageGuard;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The acquires of one client that may still queue. An acquire can take several commands, so a withdrawal of its id may
 * overtake it: the withdrawal must know of the acquire. Thread-safe.
 */
public final class AcquiresUnderWay {

    private final ConcurrentMap<String, CompletionStage<?>> byId = new ConcurrentHashMap<>();

    /** Begins an acquire, and remembers its id until the acquire has ended. */
    public <T> CompletionStage<T> during(String id, Supplier<CompletionStage<T>> acquire) {
        CompletableFuture<T> outcome = new CompletableFuture<>();
        byId.put(id, outcome);
        StageGuard.begin(acquire).whenComplete((reply, error) -> {
            // First: a withdrawal that the answer causes must not wait for this acquire.
            byId.remove(id, outcome);
            StageGuard.complete(outcome, reply, error);
        });
        return outcome;
    }

    /** Returns a stage that completes when the acquire of this id ends; null if none is under way. */
    @Nullable
    public CompletionStage<?> of(String id) {
        return byId.get(id);
    }
}
