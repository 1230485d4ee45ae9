package io.holdfast.redis.lua;

import io.holdfast.redis.connect.Publishing;
import io.holdfast.redis.connect.RedisConnections;
import io.holdfast.redis.connect.StageGuard;
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
import org.jspecify.annotations.Nullable;

/** Runs scripts by their digest; one that the server has forgotten is sent with its text once, which loads it again. */
public final class Scripts {

    /** Makes the outcome of a call from the reply of its script. Runs on an I/O thread. */
    @FunctionalInterface
    public interface Decoder<T> {
        void decode(List<Object> reply, CompletableFuture<T> outcome);
    }

    /** What the server allows, and the digests of the scripts in the form for that, which are not changed. */
    private record Forms(Allowed allowed, Map<LuaScript, String> digests) {}

    private static final long RETRY_FIRST_NANOS = 5_000_000;

    private final RedisConnections connections;
    private final Publishing publishing;
    private final RedisErrors errors;
    private final TimeSource time;

    /** Read once for each call: it changes while a store is being opened. */
    private volatile Forms forms;

    private volatile boolean closed;

    public Scripts(RedisConnections connections, Publishing publishing, RedisErrors errors, TimeSource time) {
        this.connections = connections;
        this.publishing = publishing;
        this.errors = errors;
        this.time = time;
        this.forms = new Forms(Allowed.ALL, digests(Allowed.ALL));
    }

    /** From now on uses only what the server allows. */
    public void restrict(Allowed found) {
        Forms before = forms;
        boolean same = found.pushes() == before.allowed.pushes();
        forms = new Forms(found, same ? before.digests : digests(found));
    }

    /** Takes time. */
    private Map<LuaScript, String> digests(Allowed found) {
        Map<LuaScript, String> digests = new EnumMap<>(LuaScript.class);
        for (LuaScript script : LuaScript.values()) {
            digests.put(script, script.digest(publishing, found.pushes()));
        }
        return digests;
    }

    Publishing publishing() {
        return publishing;
    }

    public Allowed allowed() {
        return forms.allowed;
    }

    /** What the server is given now. */
    String text(LuaScript script) {
        return script.text(publishing, forms.allowed.pushes());
    }

    public <T> CompletableFuture<T> run(LuaScript script, String[] keys, String[] args, Decoder<T> decoder) {
        CompletableFuture<T> outcome = new CompletableFuture<>();
        run(script, keys, args, decoder, outcome);
        return outcome;
    }

    /** Completes a future that the caller has already. */
    public <T> void run(
            LuaScript script, String[] keys, String[] args, Decoder<T> decoder, CompletableFuture<T> outcome) {
        new Call<>(script, keys, args, decoder, outcome).send();
    }

    /**
     * Runs a script on a connection of the caller's.
     *
     * @return fails with the driver's exception
     */
    public CompletionStage<List<Object>> run(
            RedisClusterAsyncCommands<String, String> commands, LuaScript script, String[] keys, String[] args) {
        Forms now = forms;
        CompletableFuture<List<Object>> reply = new CompletableFuture<>();
        if (!now.allowed.digests()) {
            dispatchText(commands, now, script, keys, args)
                    .whenComplete((answer, error) -> complete(reply, answer, error));
            return reply;
        }
        dispatch(commands, CommandType.EVALSHA, Objects.requireNonNull(now.digests.get(script)), keys, args)
                .whenComplete((answer, error) -> {
                    if (error instanceof RedisNoScriptException) {
                        StageGuard.begin(() -> dispatchText(commands, now, script, keys, args))
                                .whenComplete((second, again) -> complete(reply, second, again));
                    } else {
                        complete(reply, answer, error);
                    }
                });
        return reply;
    }

    /** From now on nothing is sent. */
    public void close() {
        closed = true;
    }

    private CompletionStage<List<Object>> dispatchText(
            RedisClusterAsyncCommands<String, String> commands,
            Forms now,
            LuaScript script,
            String[] keys,
            String[] args) {
        return dispatch(commands, CommandType.EVAL, script.text(publishing, now.allowed.pushes()), keys, args);
    }

    private static CompletionStage<List<Object>> dispatch(
            RedisClusterAsyncCommands<String, String> commands,
            CommandType command,
            String script,
            String[] keys,
            String[] args) {
        return commands.dispatch(
                command, new NestedMultiOutput<>(StringCodec.UTF8), new ScriptArgs(script, keys, args));
    }

    private static void complete(
            CompletableFuture<List<Object>> reply, @Nullable List<Object> answer, @Nullable Throwable error) {
        if (error != null) {
            reply.completeExceptionally(error);
        } else {
            reply.complete(answer);
        }
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
            if (closed) {
                outcome.completeExceptionally(errors.closed(null));
                return;
            }
            try {
                run(connections.commands(), script, keys, args).whenComplete(this::answered);
            } catch (RuntimeException e) {
                // The driver does not throw for anything that happens on the way: it was shut down meanwhile.
                outcome.completeExceptionally(errors.closed(e));
            } catch (Error e) {
                // It may have been sent. On a timer's thread nobody else would tell who waits.
                outcome.completeExceptionally(errors.of(e));
            }
        }

        private void answered(@Nullable List<Object> reply, @Nullable Throwable error) {
            if (error != null) {
                connections.failed(keys[0], error);
                if (RedisErrors.passesSoon(error)
                        && !(script.isRenewal() && RedisErrors.keysAreApart(error))
                        && time.nanoTime() - startNanos + delayNanos
                                < connections.patience().toNanos()) {
                    long delay = delayNanos;
                    delayNanos = 2 * delay;
                    time.schedule(delay, this::send);
                    return;
                }
            }
            if (reply == null || error != null) {
                outcome.completeExceptionally(errors.of(error));
                return;
            }
            errors.executed();
            try {
                decoder.decode(reply, outcome);
            } catch (Throwable e) {
                outcome.completeExceptionally(errors.of(e));
            }
        }
    }
}
