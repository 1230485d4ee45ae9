package io.holdfast.redis.connect;

import io.holdfast.redis.server.OpeningErrors;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;

/** Retries a connect whose refusal the driver swallowed. */
final class Handshakes {

    /** A new JVM is so slow at first that it may lose the answer several times in a row. */
    private static final int TRIES_MAX = 20;

    private Handshakes() {}

    /**
     * Connects. A server that refuses a connection (because it is full, say) may answer and hang up before the driver's
     * calling thread looks for the answer. The driver then fails without the server's reason, so this method asks the
     * server again.
     */
    static <T> CompletionStage<T> connect(Supplier<CompletionStage<T>> connecting) {
        // Not the driver's own kind of future, whose exceptionallyCompose never completes.
        CompletableFuture<T> outcome = new CompletableFuture<>();
        connect(connecting, TRIES_MAX, outcome);
        return outcome;
    }

    private static <T> void connect(Supplier<CompletionStage<T>> connecting, int tries, CompletableFuture<T> outcome) {
        StageGuard.begin(connecting).whenComplete((connection, error) -> {
            if (error == null) {
                outcome.complete(connection);
            } else if (tries > 1 && OpeningErrors.isReasonLost(error)) {
                connect(connecting, tries - 1, outcome);
            } else {
                outcome.completeExceptionally(error);
            }
        });
    }
}
