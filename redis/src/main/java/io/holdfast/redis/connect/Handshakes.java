package io.holdfast.redis.connect;

import io.holdfast.redis.server.OpeningErrors;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;

/** Connects so that a server that refuses is heard. */
public final class Handshakes {

    /** What the driver says when it looks for the outcome of a handshake on a channel that is closed already. */
    private static final String LOST = "RedisHandshakeHandler not registered";

    private static final int TRIES_MAX = 8;

    private Handshakes() {}

    /**
     * What {@code connecting} begins. A server that is full, say, answers and hangs up within microseconds, which may be before
     * the driver's calling thread asks for what was answered; the driver knows only then that nothing is there, so the server
     * is asked again.
     */
    static <T> CompletionStage<T> heard(Supplier<CompletionStage<T>> connecting) {
        // Not the driver's own kind of future, whose exceptionallyCompose never completes.
        CompletableFuture<T> outcome = new CompletableFuture<>();
        connect(connecting, TRIES_MAX, outcome);
        return outcome;
    }

    private static <T> void connect(Supplier<CompletionStage<T>> connecting, int tries, CompletableFuture<T> outcome) {
        StageGuard.begin(connecting).whenComplete((connection, error) -> {
            if (error == null) {
                outcome.complete(connection);
            } else if (tries > 1 && OpeningErrors.says(LOST, error)) {
                connect(connecting, tries - 1, outcome);
            } else {
                outcome.completeExceptionally(error);
            }
        });
    }
}
