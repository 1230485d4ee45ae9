package io.holdfast.redis.commands;

import io.holdfast.redis.connect.DedicatedConnections;
import io.holdfast.redis.server.RedisErrors;
import io.holdfast.redis.server.RedisKeys;
import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.RedisFuture;
import io.lettuce.core.SetArgs;
import io.lettuce.core.TransactionResult;
import io.lettuce.core.api.async.RedisAsyncCommands;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.function.Function;

/**
 * The comparisons by {@code WATCH}, {@code GET}, {@code MULTI} … {@code EXEC}: on any server, in two round trips.
 *
 * <p>Invariant: the command that changes the key is sent only after the server has begun the transaction. MULTI is sent
 * together with GET, so that this costs nothing. Otherwise a server that refuses MULTI but not DEL (because this user's
 * rights were changed in the meantime) would delete the key whatever its value.
 *
 * <p>Invariant: from WATCH to EXEC no other command uses the connection, and the connection never reconnects. On a
 * shared connection another EXEC would end the watch; on a new one there is none. Either way EXEC would delete the key
 * whatever its value.
 */
public final class WatchWay implements ConditionalDelete, ConditionalSet {

    /** EXEC is refused even after a harmless PEXPIRE of another client, but not so often. */
    private static final int TRIES = 10;

    private final DedicatedConnections connections;

    /** Runs the second half; tests delay it here. */
    private final Executor between;

    private final boolean publishes;

    /** @param publishes whether PUBLISH is allowed; otherwise the server would refuse the whole transaction with it */
    public WatchWay(DedicatedConnections connections, boolean publishes) {
        this(connections, publishes, Runnable::run);
    }

    public WatchWay(DedicatedConnections connections, boolean publishes, Executor between) {
        this.connections = connections;
        this.publishes = publishes;
        this.between = between;
    }

    @Override
    public CompletionStage<Deletion> delete(String key, String expected) {
        return run(new Transaction<>(
                key,
                expected,
                commands -> {
                    var deleting = commands.del(key);
                    if (publishes) {
                        var unused = commands.publish(RedisKeys.redissonChannel(key), RedisKeys.RELEASED);
                    }
                    return deleting;
                },
                results -> new Deletion(
                        ((Long) results.get(0)) == 1,
                        publishes ? ((Long) results.get(1)).intValue() : Deletion.NOT_TOLD),
                Deletion.NONE));
    }

    /** Fails on a server that is out of memory: it refuses every command of a transaction. */
    @Override
    public CompletionStage<Boolean> set(String key, String expected, String value, long millis) {
        return run(new Transaction<>(
                key,
                expected,
                commands -> value.equals(expected)
                        ? commands.pexpire(key, millis)
                        : commands.set(key, value, SetArgs.Builder.px(millis)),
                results -> Boolean.TRUE.equals(results.get(0)) || "OK".equals(results.get(0)),
                false));
    }

    /**
     * A transaction on a key with an expected value.
     *
     * @param queued sends its commands, and returns the one whose failure counts
     * @param outcome makes the outcome from the results
     * @param otherwise the outcome if the key has another value
     */
    private record Transaction<T>(
            String key,
            String expected,
            Function<RedisAsyncCommands<String, String>, RedisFuture<?>> queued,
            Function<TransactionResult, T> outcome,
            T otherwise) {}

    private <T> CompletionStage<T> run(Transaction<T> transaction) {
        return connections.with(transaction.key(), connection -> attempt(connection.async(), transaction, TRIES));
    }

    private <T> CompletionStage<T> attempt(
            RedisAsyncCommands<String, String> commands, Transaction<T> transaction, int triesLeft) {
        var watching = commands.watch(transaction.key());
        CompletionStage<String> value = commands.get(transaction.key());
        var beginning = commands.multi();
        return watching.thenCompose(watched -> value)
                .thenCombine(beginning, (found, begun) -> transaction.expected().equals(found))
                .thenComposeAsync(
                        isEqual -> {
                            if (!isEqual) {
                                // An empty transaction ends the watch.
                                return commands.exec().thenApply(nothing -> transaction.otherwise());
                            }
                            var commanding = transaction.queued().apply(commands);
                            return executed(commands.exec(), commanding).thenCompose(results -> {
                                if (!results.wasDiscarded()) {
                                    // A single command of the transaction may have failed.
                                    return commanding.thenApply(
                                            done -> transaction.outcome().apply(results));
                                }
                                return triesLeft > 1
                                        ? attempt(commands, transaction, triesLeft - 1)
                                        : CompletableFuture.failedFuture(RedisErrors.keepsChanging(transaction.key()));
                            });
                        },
                        between);
    }

    /**
     * Fails a transaction that was refused (EXECABORT) with the server's answer to the command, which names the cause.
     */
    private static CompletionStage<TransactionResult> executed(
            CompletionStage<TransactionResult> exec, RedisFuture<?> command) {
        return exec.exceptionallyCompose(error -> {
            String said = command.getError();
            return CompletableFuture.failedFuture(
                    RedisErrors.unwrap(error) instanceof RedisCommandExecutionException && said != null
                            ? new RedisCommandExecutionException(said, error)
                            : error);
        });
    }
}
