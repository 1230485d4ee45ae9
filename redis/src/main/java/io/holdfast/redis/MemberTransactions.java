package io.holdfast.redis;

import io.lettuce.core.RedisFuture;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.api.async.RedisAsyncCommands;
import io.lettuce.core.cluster.api.async.RedisClusterAsyncCommands;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * What a script does in one step at a quorum's member, by {@code WATCH}, reads, {@code MULTI}, writes and {@code EXEC}: all
 * keys that are read are watched, so the writes happen only where nothing has changed since. Else all is read again. That
 * goes for answers without writes, too: what was read is of one moment only if {@code EXEC} says so.
 *
 * <p>Invariant: a client's commands about one lock are executed in the order in which they were asked for, as on one
 * connection: a release that overtook its own take would leave the vote behind.
 *
 * <p>Invariants: as in {@link WatchWay}, the connection is nobody else's meanwhile, and never connects again by itself; and
 * nothing is written before the server has said that the transaction has begun.
 */
final class MemberTransactions {

    /** Each try fails because another client has succeeded; the quorum's own patience is shorter than so many. */
    private static final int TRIES = 100;

    /** A write of a transaction. */
    interface Write {
        RedisFuture<?> send(RedisAsyncCommands<String, String> commands);
    }

    /**
     * What follows from a view.
     *
     * @param reply the answer, once the writes are made
     */
    record Step<T>(T reply, List<Write> writes) {}

    private final DedicatedConnections connections;
    private final RedisErrors errors;

    /** Lock key → completed when the last command about it has ended. */
    private final ConcurrentMap<String, CompletableFuture<Boolean>> last = new ConcurrentHashMap<>();

    MemberTransactions(DedicatedConnections connections, RedisErrors errors) {
        this.connections = connections;
        this.errors = errors;
    }

    /**
     * About one lock.
     *
     * @param keys as {@link RedisKeys#ofMember}
     * @param decision may be asked several times; has no effects of its own
     */
    <T> CompletableFuture<T> run(String[] keys, Function<MemberView, Step<T>> decision) {
        return run(keys, commands -> read(commands, keys), decision);
    }

    /**
     * @param watched all keys that are read; the lock first, the birth last
     * @param reader reads what the decision needs; sends all its commands at once
     * @param decision may be asked several times; has no effects of its own
     */
    <V, T> CompletableFuture<T> run(
            String[] watched,
            Function<RedisAsyncCommands<String, String>, CompletionStage<V>> reader,
            Function<V, Step<T>> decision) {
        return inTurn(
                watched[0],
                () -> connections.with(
                        watched[0], connection -> attempt(connection, watched, reader, decision, TRIES)));
    }

    /** Sends a command when those about the same lock that were asked for before it have ended, in whatever way. */
    <T> CompletableFuture<T> inTurn(String lock, Supplier<CompletionStage<T>> command) {
        CompletableFuture<T> outcome = new CompletableFuture<>();
        CompletableFuture<Boolean> ended = new CompletableFuture<>();
        Runnable turn = () -> Stages.begin(command).whenComplete((reply, error) -> {
            last.remove(lock, ended);
            ended.complete(true);
            if (error != null) {
                outcome.completeExceptionally(errors.of(error));
            } else {
                outcome.complete(reply);
            }
        });
        CompletableFuture<Boolean> before = last.put(lock, ended);
        if (before == null) {
            turn.run();
        } else {
            var unused = before.thenRun(turn);
        }
        return outcome;
    }

    private <V, T> CompletionStage<T> attempt(
            StatefulRedisConnection<String, String> connection,
            String[] watched,
            Function<RedisAsyncCommands<String, String>, CompletionStage<V>> reader,
            Function<V, Step<T>> decision,
            int triesLeft) {
        RedisAsyncCommands<String, String> commands = connection.async();
        CompletionStage<String> watching = commands.watch(watched);
        CompletionStage<V> reading = reader.apply(commands);
        CompletionStage<String> beginning = commands.multi();
        return watching.thenCompose(ok -> reading)
                .thenCombine(beginning, (view, begun) -> view)
                .thenCompose(view -> {
                    Step<T> step = decision.apply(view);
                    List<RedisFuture<?>> writing = new ArrayList<>();
                    for (Write write : step.writes()) {
                        writing.add(write.send(commands));
                    }
                    if (writing.isEmpty()) {
                        // EXEC must say whether anything changed; this gives it something to execute.
                        writing.add(commands.get(watched[watched.length - 1]));
                    }
                    return WatchWay.executed(commands.exec(), writing).thenCompose(results -> {
                        if (!results.wasDiscarded()) {
                            // A command of the transaction that failed has failed for itself.
                            return CompletableFuture.allOf(writing.stream()
                                            .map(write -> write.toCompletableFuture())
                                            .toArray(CompletableFuture<?>[]::new))
                                    .thenApply(done -> step.reply());
                        }
                        if (triesLeft == 1) {
                            return CompletableFuture.failedFuture(RedisErrors.keepsChanging(watched[0]));
                        }
                        return attempt(connection, watched, reader, decision, triesLeft - 1);
                    });
                });
    }

    /**
     * Reads everything about a lock. The birth is read last: where the data are lost while this reads, the answer shows
     * that it does not count.
     */
    static CompletionStage<MemberView> read(RedisClusterAsyncCommands<String, String> commands, String[] keys) {
        CompletableFuture<List<String>> time = commands.time().toCompletableFuture();
        CompletableFuture<String> lock = commands.get(keys[0]).toCompletableFuture();
        CompletableFuture<String> type = commands.type(keys[0]).toCompletableFuture();
        CompletableFuture<Long> remaining = commands.pttl(keys[0]).toCompletableFuture();
        CompletableFuture<String> register = commands.get(keys[1]).toCompletableFuture();
        CompletableFuture<Map<String, String>> waiting =
                commands.hgetall(keys[2]).toCompletableFuture();
        CompletableFuture<Long> waitingExpiry = commands.pttl(keys[2]).toCompletableFuture();
        CompletableFuture<String> sequence = commands.get(keys[3]).toCompletableFuture();
        CompletableFuture<String> birth = commands.get(keys[4]).toCompletableFuture();
        CompletableFuture<String> holder = lock.handle((value, error) -> error)
                .thenCompose(refusal -> refusal == null ? lock : type.thenCompose(kind -> noString(refusal, kind)));
        return CompletableFuture.allOf(time, holder, remaining, register, waiting, waitingExpiry, sequence, birth)
                .thenApply(all -> new MemberView(
                        millis(time.join()),
                        text(birth.join()),
                        text(holder.join()),
                        remaining.join() == -2 ? 0 : remaining.join(), // it has just ended
                        text(register.join()),
                        waiting.join(),
                        waitingExpiry.join(),
                        text(sequence.join())));
    }

    /**
     * Who holds a lock key that is no string. If it is one by now, or gone, then EXEC will say that it has changed, and all is
     * read again; where EXEC does not notice that a key has expired (before 6.0.9), it was held until now.
     */
    private static CompletableFuture<String> noString(Throwable refusal, String type) {
        if (type.equals("string") || type.equals("none")) {
            return ForeignKeys.changedSince(refusal, CompletableFuture.completedFuture("foreign hash"));
        }
        return CompletableFuture.completedFuture("foreign " + type);
    }

    static long millis(List<String> time) {
        return Long.parseLong(time.get(0)) * 1_000 + Long.parseLong(time.get(1)) / 1_000;
    }

    /** The driver answers null where there is no key. */
    static String text(@Nullable String value) {
        return value == null ? "" : value;
    }
}
