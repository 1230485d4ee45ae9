package io.holdfast.redis.commands;

import io.holdfast.redis.connect.StageGuard;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The acquires of one client that are under way in mode {@code commands}. Acquires of one id follow each other: two at
 * once could each make a token for the same hold. Thread-safe.
 */
public final class Acquisitions {

    /** The last acquire of each holder id. */
    private final ConcurrentMap<String, CompletableFuture<?>> last = new ConcurrentHashMap<>();

    /** Begins an acquire when the earlier ones of this id have ended. It counts as under way from now on. */
    <T> CompletionStage<T> next(String id, Supplier<CompletionStage<T>> acquire) {
        CompletableFuture<T> outcome = new CompletableFuture<>();
        CompletableFuture<?> before = last.put(id, outcome);
        Runnable begin = () -> StageGuard.begin(acquire).whenComplete((reply, error) -> {
            last.remove(id, outcome);
            StageGuard.complete(outcome, reply, error);
        });
        after(before, begin);
        return outcome;
    }

    /** Runs something once no acquire of an id is under way, perhaps at once. */
    void afterwards(String id, Runnable what) {
        after(last.get(id), what);
    }

    private static void after(@Nullable CompletableFuture<?> acquire, Runnable what) {
        if (acquire == null) {
            what.run();
        } else {
            var unused = acquire.whenComplete((reply, error) -> what.run());
        }
    }

    int size() {
        return last.size();
    }
}
