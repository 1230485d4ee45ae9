package io.holdfast.redis;

import io.lettuce.core.RedisNoScriptException;
import io.lettuce.core.ScriptOutputType;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** Runs scripts by their digest; one that the server has forgotten is sent with its text once, which loads it again. */
final class Scripts {

    /** Makes the outcome of a call from the reply of its script. Runs on an I/O thread. */
    @FunctionalInterface
    interface Decoder<T> {
        void decode(List<Object> reply, CompletableFuture<T> outcome);
    }

    private final RedisConnections connections;
    private final RedisErrors errors;
    private volatile Allowed allowed = Allowed.ALL;
    private volatile boolean closed;

    Scripts(RedisConnections connections, RedisErrors errors) {
        this.connections = connections;
        this.errors = errors;
    }

    /** From now on uses only what the server allows. */
    void restrict(Allowed found) {
        allowed = found;
    }

    Allowed allowed() {
        return allowed;
    }

    <T> CompletableFuture<T> run(LuaScript script, String[] keys, String[] args, Decoder<T> decoder) {
        CompletableFuture<T> outcome = new CompletableFuture<>();
        run(script, keys, args, decoder, outcome);
        return outcome;
    }

    /** Completes a future that the caller has already. */
    <T> void run(LuaScript script, String[] keys, String[] args, Decoder<T> decoder, CompletableFuture<T> outcome) {
        if (closed) {
            outcome.completeExceptionally(errors.closed(null));
            return;
        }
        // Read once: it changes while a store is being opened.
        Allowed now = allowed;
        String text = script.text(now.pushes());
        if (!now.digests()) {
            runWithText(text, keys, args, decoder, outcome);
            return;
        }
        try {
            connections
                    .commands()
                    .<List<Object>>evalsha(script.digest(now.pushes()), ScriptOutputType.MULTI, keys, args)
                    .whenComplete((reply, error) -> {
                        if (error instanceof RedisNoScriptException) {
                            runWithText(text, keys, args, decoder, outcome);
                        } else {
                            complete(keys[0], reply, error, decoder, outcome);
                        }
                    });
        } catch (RuntimeException e) {
            // The driver does not throw for anything that happens on the way: it was shut down meanwhile.
            outcome.completeExceptionally(errors.closed(e));
        }
    }

    /** From now on nothing is sent. */
    void close() {
        closed = true;
    }

    private <T> void runWithText(
            String text, String[] keys, String[] args, Decoder<T> decoder, CompletableFuture<T> outcome) {
        try {
            connections
                    .commands()
                    .<List<Object>>eval(text, ScriptOutputType.MULTI, keys, args)
                    .whenComplete((reply, error) -> complete(keys[0], reply, error, decoder, outcome));
        } catch (RuntimeException e) {
            outcome.completeExceptionally(errors.closed(e));
        }
    }

    private <T> void complete(
            String key,
            @Nullable List<Object> reply,
            @Nullable Throwable error,
            Decoder<T> decoder,
            CompletableFuture<T> outcome) {
        if (reply == null || error != null) {
            if (error != null) {
                connections.failed(key, error);
            }
            outcome.completeExceptionally(errors.of(error));
            return;
        }
        try {
            decoder.decode(reply, outcome);
        } catch (RuntimeException e) {
            outcome.completeExceptionally(errors.of(e));
        }
    }
}
