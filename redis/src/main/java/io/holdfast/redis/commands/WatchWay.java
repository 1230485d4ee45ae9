package io.holdfast.redis.commands;

import io.holdfast.redis.connect.DedicatedConnections;
import io.holdfast.redis.server.RedisErrors;
import io.holdfast.redis.server.RedisKeys;
import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.RedisFuture;
import io.lettuce.core.SetArgs;
import io.lettuce.core.TransactionResult;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.api.async.RedisAsyncCommands;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.function.Function;

/**
 * Comparisons by {@code WATCH}, {@code GET}, {@code MULTI} … {@code EXEC}: on any server, in two round trips.
 *
 * <p>Invariant: what changes the key is sent only after the server has begun the transaction. MULTI comes with the question,
 * so that this costs nothing: a server that refuses MULTI but not DEL (its rights were changed meanwhile) would else
 * delete whatever the key has become.
 *
 * <p>Invariant: the connection is nobody else's from WATCH to EXEC, and it is one that never connects again by itself. On
 * a shared one somebody else's EXEC ends the watch; on a new one there is none. Either way EXEC would delete whatever the
 * key has become.
 */
public final class WatchWay implements ConditionalDelete, ConditionalSet {

    /** EXEC is also refused after somebody's harmless PEXPIRE; nobody does that so often on purpose. */
    private static final int TRIES = 10;

    private final DedicatedConnections connections;

    /** Where the second half runs; tests hold it back there. */
    private final Executor between;

    private final boolean publishes;

    /** @param publishes whether the server lets us PUBLISH: else it would refuse the whole transaction */
    public WatchWay(DedicatedConnections connections, boolean publishes) {
        this(connections, publishes, Runnable::run);
    }

    public WatchWay(DedicatedConnections connections, boolean publishes, Executor between) {
        this.connections = connections;
        this.publishes = publishes;
        this.between = between;
    }

    @Override
    public CompletionStage<Deletion> delete(String key, String expected, String channel) {
        return ifEqual(
                key,
                expected,
                Deletion.NONE,
                commands -> {
                    var deleting = commands.del(key);
                    if (publishes) {
                        var unused = commands.publish(channel, RedisKeys.RELEASED);
                    }
                    return deleting;
                },
                results -> new Deletion(
                        ((Long) results.get(0)) == 1,
                        publishes ? ((Long) results.get(1)).intValue() : Deletion.NOT_TOLD));
    }

    /** A server that is out of memory refuses every command of a transaction, whatever it is. */
    @Override
    public CompletionStage<Boolean> set(String key, String expected, String value, long millis) {
        return ifEqual(
                key,
                expected,
                false,
                commands -> value.equals(expected)
                        ? commands.pexpire(key, millis)
                        : commands.set(key, value, SetArgs.Builder.px(millis)),
                results -> Boolean.TRUE.equals(results.get(0)) || "OK".equals(results.get(0)));
    }

    /**
     * @param queued sends the commands of the transaction
     * @param outcome made from their results
     */
    private <T> CompletionStage<T> ifEqual(
            String key,
            String expected,
            T otherwise,
            Function<RedisAsyncCommands<String, String>, RedisFuture<?>> queued,
            Function<TransactionResult, T> outcome) {
        return connections.with(
                key, connection -> attempt(connection, key, expected, otherwise, queued, outcome, TRIES));
    }

    private <T> CompletionStage<T> attempt(
            StatefulRedisConnection<String, String> connection,
            String key,
            String expected,
            T otherwise,
            Function<RedisAsyncCommands<String, String>, RedisFuture<?>> queued,
            Function<TransactionResult, T> outcome,
            int triesLeft) {
        RedisAsyncCommands<String, String> commands = connection.async();
        var watching = commands.watch(key);
        CompletionStage<String> value = commands.get(key);
        var beginning = commands.multi();
        return watching.thenCompose(watched -> value)
                .thenCombine(beginning, (found, begun) -> expected.equals(found))
                .thenComposeAsync(
                        isEqual -> {
                            if (!isEqual) {
                                // Of nothing: it ends the watch, too.
                                return commands.exec().thenApply(nothing -> otherwise);
                            }
                            var commanding = queued.apply(commands);
                            return executed(commands.exec(), List.of(commanding))
                                    .thenCompose(results -> {
                                        if (!results.wasDiscarded()) {
                                            // A command of the transaction that failed has failed for itself.
                                            return commanding.thenApply(done -> outcome.apply(results));
                                        }
                                        if (triesLeft == 1) {
                                            return CompletableFuture.failedFuture(RedisErrors.keepsChanging(key));
                                        }
                                        return attempt(
                                                connection, key, expected, otherwise, queued, outcome, triesLeft - 1);
                                    });
                        },
                        between);
    }

    /** If the whole was refused (EXECABORT), fails with what the server said to the command: it names the cause. */
    private static CompletionStage<TransactionResult> executed(
            CompletionStage<TransactionResult> exec, List<? extends RedisFuture<?>> commanding) {
        CompletableFuture<TransactionResult> outcome = new CompletableFuture<>();
        exec.whenComplete((results, error) -> {
            if (error == null) {
                outcome.complete(results);
                return;
            }
            for (RedisFuture<?> command : commanding) {
                String said = command.getError();
                if (error instanceof RedisCommandExecutionException && said != null) {
                    outcome.completeExceptionally(new RedisCommandExecutionException(said, error));
                    return;
                }
            }
            outcome.completeExceptionally(error);
        });
        return outcome;
    }
}
