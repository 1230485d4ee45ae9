package io.holdfast.redis.commands;

import io.holdfast.redis.commands.CompareWays.Choice;
import io.holdfast.redis.commands.CompareWays.DeleteBy;
import io.holdfast.redis.commands.CompareWays.SetBy;
import io.holdfast.redis.connect.DedicatedConnections;
import io.holdfast.redis.connect.RedisConnections;
import io.holdfast.redis.server.RedisErrors;
import io.holdfast.redis.server.RedisKeys;
import io.holdfast.spi.StoreException;
import io.lettuce.core.Limit;
import io.lettuce.core.Range;
import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.SetArgs;
import io.lettuce.core.XAddArgs;
import io.lettuce.core.codec.StringCodec;
import io.lettuce.core.output.ObjectOutput;
import io.lettuce.core.protocol.CommandArgs;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Finds out by which commands a server compares for this user, in two steps that no error's text decides:
 *
 * <ol>
 *   <li>{@code COMMAND INFO} says which of DELIFEQ and DELEX there are, {@code COMMAND DOCS} whether SET has IFEQ. A server
 *       that does not answer that (it is old, or forbids it) leaves the question open.
 *   <li>What may be there is tried on keys that no lock has: it counts only if it leaves alone what it must, and changes
 *       what it should. That also finds what an ACL, a renamed command or a proxy forbids.
 * </ol>
 */
public final class CompareProbe {

    /** Long enough for the trial, and nothing stays behind if it breaks off. */
    private static final long KEPT_MILLIS = 10_000;

    /**
     * What was found.
     *
     * @param tried whether the second step could be made. If not (a replica, a full server), the choice is what the
     *     first one says, and to be made again
     * @param missing commands that this mode cannot do without and that were refused, as {@code ACL SETUSER} takes them
     */
    public record Finding(
            boolean delifeq,
            boolean delex,
            boolean setIfeq,
            boolean watch,
            boolean publishes,
            boolean streams,
            boolean counter,
            boolean tried,
            List<String> missing) {

        public boolean isSafe() {
            return (delifeq || delex || watch) && (setIfeq || watch);
        }

        public boolean hasTokens() {
            return streams || counter;
        }

        public Choice choice() {
            return new Choice(
                    delifeq ? DeleteBy.DELIFEQ : delex ? DeleteBy.DELEX : DeleteBy.WATCH,
                    setIfeq ? SetBy.SET_IFEQ : SetBy.WATCH,
                    watch,
                    publishes,
                    streams);
        }
    }

    /** What the first step says; null: it does not say. */
    private record Known(
            @Nullable Boolean delifeq,
            @Nullable Boolean delex,
            @Nullable Boolean setIfeq) {}

    private final RedisConnections connections;
    private final DedicatedConnections dedicated;
    private final RedisErrors errors;
    private final String[] keys;
    private final String channel;

    /** @param keys three in one slot that nobody uses */
    public CompareProbe(
            RedisConnections connections, DedicatedConnections dedicated, RedisErrors errors, String[] keys) {
        this.connections = connections;
        this.dedicated = dedicated;
        this.errors = errors;
        this.keys = keys.clone();
        this.channel = RedisKeys.redissonChannel(keys[0]);
    }

    public CompletionStage<Finding> run() {
        return ask().thenCompose(known -> attempt(known)
                .exceptionallyCompose(error -> errors.of(error).outcome() == StoreException.Outcome.NOT_EXECUTED
                                && RedisErrors.unwrap(error) instanceof RedisCommandExecutionException
                        ? CompletableFuture.completedFuture(untried(known))
                        : CompletableFuture.failedFuture(error)));
    }

    private static Finding untried(Known known) {
        return new Finding(
                Boolean.TRUE.equals(known.delifeq()),
                Boolean.TRUE.equals(known.delex()),
                Boolean.TRUE.equals(known.setIfeq()),
                true,
                true,
                true,
                true,
                false,
                List.of());
    }

    private CompletionStage<Known> ask() {
        CompletionStage<Object> info = command("INFO", "delifeq", "delex");
        CompletionStage<Object> docs = command("DOCS", "set");
        return orUnknown(info)
                .thenCombine(
                        orUnknown(docs),
                        (commands, set) -> new Known(
                                commands == null ? null : contains(commands, "delifeq"),
                                commands == null ? null : contains(commands, "delex"),
                                set == null ? null : contains(set, "IFEQ")));
    }

    private CompletionStage<Object> command(String... args) {
        CommandArgs<String, String> all = new CommandArgs<>(StringCodec.UTF8);
        for (String arg : args) {
            all.add(arg);
        }
        return connections.commands().dispatch(NativeCommand.COMMAND, new ObjectOutput<>(StringCodec.UTF8), all);
    }

    private CompletionStage<Finding> attempt(Known known) {
        List<String> missing = new ArrayList<>();
        NativeWays ways = new NativeWays(connections);
        var commands = connections.commands();

        // All on one connection, so executed in this order; only WATCH has one of its own, and comes after them.
        CompletionStage<Boolean> basics = all(
                need("set", commands.set(keys[0], "a", kept().nx()), missing),
                need("get", commands.get(keys[0]), missing),
                need("pttl", commands.pttl(keys[0]), missing),
                need("type", commands.type(keys[0]), missing),
                need("del", commands.del(keys), missing));
        CompletionStage<Boolean> delifeq = deletes(known.delifeq(), ways.delifeq());
        CompletionStage<Boolean> delex = deletes(known.delex(), ways.delex());
        CompletionStage<Boolean> setIfeq = sets(known.setIfeq(), ways.set());
        CompletionStage<Boolean> publishes = works(commands.publish(channel, RedisKeys.RELEASED), heard -> true);
        CompletionStage<Boolean> streams = all(
                works(commands.xadd(keys[1], new XAddArgs().maxlen(1), "h", "a"), id -> true),
                works(commands.xrevrange(keys[1], Range.unbounded(), Limit.from(1)), entries -> entries.size() == 1),
                works(commands.pexpire(keys[1], KEPT_MILLIS), done -> done));
        CompletionStage<Boolean> counter = all(
                works(commands.incr(keys[2]), number -> number == 1),
                works(commands.del(keys[2]), deleted -> deleted == 1));

        return publishes.thenCompose(mayPublish -> watches(mayPublish).thenCompose(watch -> {
            CompletionStage<Long> cleaned = commands.del(keys);
            return all(basics, works(cleaned, deleted -> true))
                    .thenCombine(delifeq, (ok, byDelifeq) -> byDelifeq)
                    .thenCombine(delex, (byDelifeq, byDelex) -> new Boolean[] {byDelifeq, byDelex})
                    .thenCombine(setIfeq, (deleting, setting) -> new Boolean[] {deleting[0], deleting[1], setting})
                    .thenCombine(streams, (found, byStreams) -> new Boolean[] {found[0], found[1], found[2], byStreams})
                    .thenCombine(
                            counter,
                            (found, byCounter) -> new Finding(
                                    found[0],
                                    found[1],
                                    found[2],
                                    watch,
                                    mayPublish,
                                    found[3],
                                    byCounter,
                                    true,
                                    List.copyOf(missing)));
        }));
    }

    /** Whether it leaves a key with another value alone, and deletes one with the value. */
    private CompletionStage<Boolean> deletes(@Nullable Boolean known, ConditionalDelete way) {
        if (Boolean.FALSE.equals(known)) {
            return CompletableFuture.completedFuture(false);
        }
        var commands = connections.commands();
        return all(
                works(commands.set(keys[0], "a", kept()), "OK"::equals),
                works(way.delete(keys[0], "b", channel), deletion -> !deletion.done()),
                works(commands.get(keys[0]), "a"::equals),
                works(way.delete(keys[0], "a", channel), ConditionalDelete.Deletion::done),
                works(commands.get(keys[0]), value -> value == null));
    }

    private CompletionStage<Boolean> sets(@Nullable Boolean known, ConditionalSet way) {
        if (Boolean.FALSE.equals(known)) {
            return CompletableFuture.completedFuture(false);
        }
        var commands = connections.commands();
        return all(
                works(commands.set(keys[0], "a", kept()), "OK"::equals),
                works(way.set(keys[0], "b", "c", KEPT_MILLIS), done -> !done),
                works(commands.get(keys[0]), "a"::equals),
                works(way.set(keys[0], "a", "c", KEPT_MILLIS), done -> done),
                works(commands.get(keys[0]), "c"::equals),
                works(commands.pttl(keys[0]), left -> left > 0),
                works(commands.del(keys[0]), deleted -> deleted == 1));
    }

    private CompletionStage<Boolean> watches(boolean publishes) {
        WatchWay way = new WatchWay(dedicated, publishes);
        CompletionStage<Boolean> written = works(connections.commands().set(keys[0], "a", kept()), "OK"::equals);
        return written.thenCompose(ok -> works(way.delete(keys[0], "b", channel), deletion -> !deletion.done()))
                .thenCompose(ok -> !ok
                        ? CompletableFuture.completedFuture(false)
                        : works(way.delete(keys[0], "a", channel), ConditionalDelete.Deletion::done));
    }

    private CompletionStage<Boolean> need(String command, CompletionStage<?> reply, List<String> missing) {
        return works(reply, any -> true).thenApply(ok -> {
            if (!ok) {
                missing.add("+" + command);
            }
            return ok;
        });
    }

    /** False if the server refused for good, or did something else; fails for whatever may pass. */
    private <T> CompletionStage<Boolean> works(CompletionStage<T> reply, Predicate<? super T> expected) {
        return reply.handle((answer, error) -> {
                    if (error == null) {
                        return CompletableFuture.completedFuture(expected.test(answer));
                    }
                    return RedisErrors.unwrap(error) instanceof RedisCommandExecutionException
                                    && errors.of(error).outcome() == StoreException.Outcome.FATAL
                            ? CompletableFuture.completedFuture(false)
                            : CompletableFuture.<Boolean>failedFuture(error);
                })
                .thenCompose(result -> result);
    }

    @SafeVarargs
    private static CompletionStage<Boolean> all(CompletionStage<Boolean>... steps) {
        CompletionStage<Boolean> together = CompletableFuture.completedFuture(true);
        for (CompletionStage<Boolean> step : steps) {
            together = together.thenCombine(step, Boolean::logicalAnd);
        }
        return together;
    }

    private static SetArgs kept() {
        return SetArgs.Builder.px(KEPT_MILLIS);
    }

    private static CompletionStage<@Nullable Object> orUnknown(CompletionStage<Object> reply) {
        return reply.<@Nullable Object>thenApply(answer -> answer)
                .exceptionallyCompose(error -> RedisErrors.unwrap(error) instanceof RedisCommandExecutionException
                        ? CompletableFuture.completedFuture(null)
                        : CompletableFuture.failedFuture(error));
    }

    private static boolean contains(@Nullable Object reply, String word) {
        if (reply instanceof Map<?, ?> map) {
            return contains(map.keySet(), word) || contains(map.values(), word);
        }
        if (reply instanceof Collection<?> parts) {
            return parts.stream().anyMatch(part -> contains(part, word));
        }
        return word.equals(reply);
    }
}
