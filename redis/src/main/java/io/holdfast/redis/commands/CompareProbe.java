package io.holdfast.redis.commands;

import io.holdfast.redis.commands.CompareWays.Choice;
import io.holdfast.redis.connect.DedicatedConnections;
import io.holdfast.redis.connect.RedisConnections;
import io.holdfast.redis.server.RedisErrors;
import io.holdfast.redis.server.RedisKeys;
import io.holdfast.redis.server.RefusedCommands;
import io.holdfast.spi.StoreException;
import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.SetArgs;
import io.lettuce.core.codec.StringCodec;
import io.lettuce.core.output.ObjectOutput;
import io.lettuce.core.protocol.CommandArgs;
import io.lettuce.core.protocol.CommandType;
import java.util.Collection;
import java.util.Collections;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Finds out by which commands a server compares values for this user, in two steps. No error text decides anything.
 *
 * <ol>
 *   <li>{@code COMMAND INFO} says which of DELIFEQ and DELEX the server has, {@code COMMAND DOCS} whether SET has IFEQ.
 *       A server that does not answer (it is old, or forbids the question) leaves that open.
 *   <li>Each command that the server may have is tried on keys that no lock uses. It counts only if it changes a key
 *       whose value is equal, and no other. This also finds what an ACL, a renamed command or a proxy forbids.
 * </ol>
 */
public final class CompareProbe {

    /** Long enough for the trial. The expiry removes the keys of an aborted trial. */
    private static final long KEPT_MILLIS = 10_000;

    /**
     * The findings of the probe.
     *
     * @param tried whether the second step could be made. If not (a replica, a full server), the choice rests on the
     *     first step alone, and must be made again
     * @param refused the refused commands that this mode cannot do without
     */
    public record Finding(Choice choice, boolean tried, RefusedCommands refused) {

        public boolean isSafe() {
            return choice.has(choice.delete()) && choice.has(choice.set());
        }
    }

    private final RedisConnections connections;
    private final DedicatedConnections dedicated;
    private final RedisErrors errors;
    private final String[] keys;
    private final String channel;

    /** @param keys three keys in one slot that no client uses */
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

    private static Finding untried(Map<Ability, Boolean> known) {
        Set<Ability> abilities = EnumSet.of(Ability.WATCH, Ability.PUBLISH);
        known.forEach((ability, has) -> {
            if (has) {
                abilities.add(ability);
            }
        });
        return new Finding(new Choice(abilities), false, new RefusedCommands(Map.of()));
    }

    /** Returns what the server says. An ability about which it says nothing is not in the map. */
    private CompletionStage<Map<Ability, Boolean>> ask() {
        CompletionStage<Object> info = command("INFO", "delifeq", "delex");
        CompletionStage<Object> docs = command("DOCS", "set");
        return orUnknown(info).thenCombine(orUnknown(docs), (commands, set) -> {
            Map<Ability, Boolean> known = new EnumMap<>(Ability.class);
            if (commands != null) {
                known.put(Ability.DELIFEQ, contains(commands, "delifeq"));
                known.put(Ability.DELEX, contains(commands, "delex"));
            }
            if (set != null) {
                known.put(Ability.SET_IFEQ, contains(set, "IFEQ"));
            }
            return known;
        });
    }

    private CompletionStage<Object> command(String... args) {
        CommandArgs<String, String> all = new CommandArgs<>(StringCodec.UTF8);
        for (String arg : args) {
            all.add(arg);
        }
        return connections.commands().dispatch(CommandType.COMMAND, new ObjectOutput<>(StringCodec.UTF8), all);
    }

    private CompletionStage<Finding> attempt(Map<Ability, Boolean> known) {
        Trials trials = new Trials(known);
        NativeWays ways = new NativeWays(connections);
        var commands = connections.commands();

        // All on one connection, so executed in this order; only WATCH has its own connection, and comes after them.
        CompletionStage<Boolean> shared = all(
                trials.need("set", commands.set(keys[0], "a", kept().nx())),
                trials.need("get", commands.get(keys[0])),
                trials.need("pttl", commands.pttl(keys[0])),
                trials.need("type", commands.type(keys[0])),
                trials.need("incr", commands.incr(keys[2])),
                trials.need("time", commands.time()),
                trials.need("del", commands.del(keys)),
                trials.of(Ability.DELIFEQ, () -> deletes(ways.delifeq())),
                trials.of(Ability.DELEX, () -> deletes(ways.delex())),
                trials.of(Ability.SET_IFEQ, () -> sets(ways.set())),
                trials.of(Ability.PUBLISH, () -> works(commands.publish(channel, RedisKeys.RELEASED), heard -> true)));

        return shared.thenCompose(
                        done -> trials.of(Ability.WATCH, () -> watches(trials.found.contains(Ability.PUBLISH))))
                .thenCompose(done -> works(commands.del(keys), deleted -> true))
                .thenApply(done -> new Finding(new Choice(trials.found), true, new RefusedCommands(trials.refused)));
    }

    /** What the trials have found so far. */
    private final class Trials {

        final Map<Ability, Boolean> known;
        final Set<Ability> found = Collections.synchronizedSet(EnumSet.noneOf(Ability.class));
        final Map<String, String> refused = Collections.synchronizedMap(new LinkedHashMap<>());

        Trials(Map<Ability, Boolean> known) {
            this.known = known;
        }

        /** Tries an ability that the server may have. */
        CompletionStage<Boolean> of(Ability ability, Supplier<CompletionStage<Boolean>> trial) {
            return known.getOrDefault(ability, true)
                    ? trial.get().thenApply(works -> works && found.add(ability))
                    : CompletableFuture.completedFuture(false);
        }

        CompletionStage<Boolean> need(String command, CompletionStage<?> reply) {
            CompletionStage<String> said = reply.handle((any, error) -> {
                Throwable cause = RedisErrors.unwrap(error);
                return cause == null ? "" : String.valueOf(cause.getMessage());
            });
            return works(reply, any -> true).thenCombine(said, (ok, why) -> {
                if (!ok) {
                    refused.put(command, why);
                }
                return ok;
            });
        }
    }

    /** Whether a way leaves a key with another value alone, and deletes a key with the value. */
    private CompletionStage<Boolean> deletes(ConditionalDelete way) {
        var commands = connections.commands();
        return all(
                works(commands.set(keys[0], "a", kept()), "OK"::equals),
                works(way.delete(keys[0], "b"), deletion -> !deletion.done()),
                works(commands.get(keys[0]), "a"::equals),
                works(way.delete(keys[0], "a"), ConditionalDelete.Deletion::done),
                works(commands.get(keys[0]), value -> value == null));
    }

    private CompletionStage<Boolean> sets(ConditionalSet way) {
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
        return written.thenCompose(ok -> works(way.delete(keys[0], "b"), deletion -> !deletion.done()))
                .thenCompose(ok -> !ok
                        ? CompletableFuture.completedFuture(false)
                        : works(way.delete(keys[0], "a"), ConditionalDelete.Deletion::done));
    }

    /** False if the server refused for good, or did something unexpected; fails for a reason that may pass. */
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
