package io.holdfast.redis.connect;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The acquires of one client that are under way. An acquire can take several commands, so a withdrawal of its id may
 * overtake it: the withdrawal must know of the acquire. Acquires of one id follow each other: without scripts, two at
 * once could each make a token for the same hold. Thread-safe.
 */
public final class AcquiresUnderWay {

    /** The last acquire of each holder id. */
    private final ConcurrentMap<String, CompletableFuture<?>> last = new ConcurrentHashMap<>();

    /**
     * Begins an acquire when the earlier ones of this id have ended. It counts as under way from now on. It must not
     * wait for another acquire of its own id.
     */
    public <T> CompletionStage<T> next(String id, Supplier<CompletionStage<T>> acquire) {
        CompletableFuture<T> outcome = new CompletableFuture<>();
        CompletableFuture<?> before = last.put(id, outcome);
        Runnable begin = () -> StageGuard.begin(acquire).whenComplete((reply, error) -> {
            // First: a withdrawal that the answer causes must not wait for this acquire.
            last.remove(id, outcome);
            StageGuard.complete(outcome, reply, error);
        });
        after(before, begin);
        return outcome;
    }

    /** Returns a stage that completes when the last acquire of this id ends; null if none is under way. */
    @Nullable
    public CompletionStage<?> of(String id) {
        return last.get(id);
    }

    /** Runs something when no acquire of an id is under way, perhaps at once. */
    public void afterwards(String id, Runnable what) {
        after(last.get(id), what);
    }

    private static void after(@Nullable CompletableFuture<?> acquire, Runnable what) {
        if (acquire == null) {
            what.run();
        } else {
            var unused = acquire.whenComplete((reply, error) -> what.run());
        }
    }

    /** For tests. */
    public int size() {
        return last.size();
    }
}
