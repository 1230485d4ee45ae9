package io.holdfast.redis.lua;

import io.holdfast.redis.connect.RedisConnections;
import io.holdfast.redis.messages.Publishing;
import io.holdfast.redis.server.RedisErrors;
import io.holdfast.spi.TimeSource;
import io.lettuce.core.RedisNoScriptException;
import io.lettuce.core.cluster.api.async.RedisClusterAsyncCommands;
import io.lettuce.core.codec.StringCodec;
import io.lettuce.core.output.NestedMultiOutput;
import io.lettuce.core.protocol.CommandType;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Runs scripts by their digest, or by their text where the server refuses EVALSHA. A script that the server has
 * forgotten is sent once with its text, which loads it again.
 */
public final class Scripts {

    /** Completes the outcome of a call by the reply of its script, now or later. Runs on an I/O thread. */
    @FunctionalInterface
    public interface Decoder<T> {
        void decode(ScriptReply reply, CompletableFuture<T> outcome);
    }

    /** What the server allows, and the digests of the scripts in that form. The map does not change. */
    private record Forms(Allowed allowed, Map<LuaScript, String> digests) {}

    private static final long RETRY_FIRST_NANOS = 5_000_000;

    private final List<LuaScript> scripts;
    private final RedisConnections connections;
    private final ScriptHead head;
    private final RedisErrors errors;
    private final TimeSource time;

    /** Changes while a store is being opened, so each call reads it once. */
    private volatile Forms forms;

    private volatile boolean closed;

    /** @param scripts those that will run */
    public Scripts(
            List<LuaScript> scripts,
            RedisConnections connections,
            ScriptHead head,
            RedisErrors errors,
            TimeSource time) {
        this.scripts = scripts;
        this.connections = connections;
        this.head = head;
        this.errors = errors;
        this.time = time;
        this.forms = new Forms(Allowed.ALL, digests(Allowed.ALL));
    }

    /** Returns the scripts of pools, for the same server and what it allows. */
    Scripts ofPools() {
        Scripts pools = new Scripts(LuaScript.OF_POOLS, connections, head, errors, time);
        pools.restrict(allowed());
        return pools;
    }

    /** Uses only what the server allows, from now on. */
    public void restrict(Allowed found) {
        Forms before = forms;
        boolean same = found.pushes() == before.allowed.pushes();
        forms = new Forms(found, same ? before.digests : digests(found));
    }

    private Map<LuaScript, String> digests(Allowed found) {
        Map<LuaScript, String> digests = new EnumMap<>(LuaScript.class);
        for (LuaScript script : scripts) {
            digests.put(script, script.digest(head, found.pushes()));
        }
        return digests;
    }

    Publishing publishing() {
        return head.publishing();
    }

    public Allowed allowed() {
        return forms.allowed;
    }

    /** Returns the text of a script for what the server allows now. */
    public String text(LuaScript script) {
        return script.text(head, forms.allowed.pushes());
    }

    /** Runs a script whose outcome is a function of its reply. A function that throws fails the call. */
    public <T> CompletableFuture<T> run(
            LuaScript script, String[] keys, String[] args, Function<ScriptReply, T> result) {
        return run(script, keys, args, (reply, outcome) -> outcome.complete(result.apply(reply)));
    }

    <T> CompletableFuture<T> run(LuaScript script, String[] keys, String[] args, Decoder<T> decoder) {
        CompletableFuture<T> outcome = new CompletableFuture<>();
        run(script, keys, args, decoder, outcome);
        return outcome;
    }

    /** Runs a script, and completes a future that the caller already has. */
    <T> void run(LuaScript script, String[] keys, String[] args, Decoder<T> decoder, CompletableFuture<T> outcome) {
        new Call<>(script, keys, args, decoder, outcome).send();
    }

    /**
     * Runs a script on the caller's connection.
     *
     * @return fails with the driver's exception
     */
    public CompletionStage<ScriptReply> run(
            RedisClusterAsyncCommands<String, String> commands, LuaScript script, String[] keys, String[] args) {
        Forms now = forms;
        boolean byDigest = now.allowed.digests();
        return dispatch(commands, now, byDigest, script, keys, args)
                .exceptionallyCompose(error -> byDigest && RedisErrors.unwrap(error) instanceof RedisNoScriptException
                        ? dispatch(commands, now, false, script, keys, args)
                        : CompletableFuture.failedFuture(error))
                .thenApply(ScriptReply::new);
    }

    private CompletionStage<List<Object>> dispatch(
            RedisClusterAsyncCommands<String, String> commands,
            Forms now,
            boolean byDigest,
            LuaScript script,
            String[] keys,
            String[] args) {
        String sent =
                byDigest ? Objects.requireNonNull(now.digests.get(script)) : script.text(head, now.allowed.pushes());
        return commands.dispatch(
                byDigest ? CommandType.EVALSHA : CommandType.EVAL,
                new NestedMultiOutput<>(StringCodec.UTF8),
                new ScriptArgs(sent, keys, args));
    }

    /** Sends nothing from now on. */
    public void close() {
        closed = true;
    }

    /** One call and its repetitions. */
    private final class Call<T> {

        private final LuaScript script;
        private final String[] keys;
        private final String[] args;
        private final Decoder<T> decoder;
        private final CompletableFuture<T> outcome;
        private final long startNanos = time.nanoTime();
        private long delayNanos = RETRY_FIRST_NANOS;

        Call(LuaScript script, String[] keys, String[] args, Decoder<T> decoder, CompletableFuture<T> outcome) {
            this.script = script;
            this.keys = keys;
            this.args = args;
            this.decoder = decoder;
            this.outcome = outcome;
        }

        void send() {
            Forms now = forms;
            send(now, now.allowed.digests());
        }

        /** @param byDigest false for a script that the server has forgotten, or a server without EVALSHA */
        private void send(Forms now, boolean byDigest) {
            if (closed) {
                outcome.completeExceptionally(errors.closed(null));
                return;
            }
            try {
                dispatch(connections.commands(), now, byDigest, script, keys, args)
                        .whenComplete((reply, error) -> answered(now, byDigest, reply, error));
            } catch (RuntimeException e) {
                // The driver was shut down in the meantime: it throws for nothing else.
                outcome.completeExceptionally(errors.closed(e));
            } catch (Error e) {
                // The command may have been sent. On a timer's thread, only this notifies the caller.
                outcome.completeExceptionally(errors.of(e));
            }
        }

        private void answered(Forms now, boolean byDigest, @Nullable List<Object> reply, @Nullable Throwable error) {
            Throwable cause = RedisErrors.unwrap(error);
            if (byDigest && cause instanceof RedisNoScriptException) {
                send(now, false);
                return;
            }
            if (cause != null) {
                connections.failed(keys[0], cause);
                if (mayPass(cause)) {
                    long delay = delayNanos;
                    delayNanos = 2 * delay;
                    time.schedule(delay, this::send);
                    return;
                }
            }
            if (reply == null || cause != null) {
                outcome.completeExceptionally(errors.of(cause));
                return;
            }
            errors.executed();
            try {
                decoder.decode(new ScriptReply(reply), outcome);
            } catch (Throwable e) {
                outcome.completeExceptionally(errors.of(e));
            }
        }

        private boolean mayPass(Throwable error) {
            return RedisErrors.passesSoon(error)
                    && !(script.isRenewal() && RedisErrors.keysAreApart(error))
                    && time.nanoTime() - startNanos + delayNanos
                            < connections.patience().toNanos();
        }
    }
}
