package io.holdfast.redis.commands;

import io.holdfast.redis.connect.DedicatedConnections;
import io.holdfast.redis.server.RedisErrors;
import io.lettuce.core.RedisCommandExecutionException;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;

/**
 * The comparisons, each in the way that {@link CompareProbe} chose for the current server.
 *
 * <p>If a server refuses its native command, {@code WATCH} is used if it has that. A server may refuse after a failover
 * to an older server that was not probed yet, or in a cluster whose nodes are being upgraded. A server that is out of
 * memory refuses SET but not PEXPIRE. Every way compares, so each is safe.
 */
public final class CompareWays implements ConditionalDelete, ConditionalSet {

    /** The abilities of the server, and the ways that follow from them. */
    public record Choice(Set<Ability> abilities) {

        public Choice {
            abilities = Set.copyOf(abilities);
        }

        /** Returns the way to compare and delete: DELIFEQ, DELEX or WATCH. */
        public Ability delete() {
            return has(Ability.DELIFEQ) ? Ability.DELIFEQ : has(Ability.DELEX) ? Ability.DELEX : Ability.WATCH;
        }

        /** Returns the way to compare and set: SET_IFEQ or WATCH. */
        public Ability set() {
            return has(Ability.SET_IFEQ) ? Ability.SET_IFEQ : Ability.WATCH;
        }

        public boolean has(Ability ability) {
            return abilities.contains(ability);
        }

        /** Returns the ways, for people. */
        @Override
        public String toString() {
            String release = delete() == Ability.WATCH ? "WATCH/MULTI" : delete().name();
            String renewal = set() == Ability.WATCH ? "WATCH/MULTI" : "SET IFEQ";
            return "releases by " + release + ", renews by " + renewal
                    + (has(Ability.PUBLISH) ? "" : ", waits by polling");
        }
    }

    private final NativeWays nativeWays;
    private final DedicatedConnections connections;
    private volatile Choice choice;

    public CompareWays(NativeWays nativeWays, DedicatedConnections connections, Choice choice) {
        this.nativeWays = nativeWays;
        this.connections = connections;
        this.choice = choice;
    }

    public Choice choice() {
        return choice;
    }

    public void choose(Choice now) {
        choice = now;
    }

    @Override
    public CompletionStage<Deletion> delete(String key, String expected) {
        Choice now = choice;
        Supplier<CompletionStage<Deletion>> byWatch = () -> watch(now).delete(key, expected);
        return now.delete() == Ability.WATCH
                ? byWatch.get()
                : orByWatch(
                        now,
                        (now.delete() == Ability.DELIFEQ ? nativeWays.delifeq() : nativeWays.delex())
                                .delete(key, expected),
                        byWatch);
    }

    @Override
    public CompletionStage<Boolean> set(String key, String expected, String value, long millis) {
        Choice now = choice;
        Supplier<CompletionStage<Boolean>> byWatch = () -> watch(now).set(key, expected, value, millis);
        return now.set() == Ability.WATCH
                ? byWatch.get()
                : orByWatch(now, nativeWays.set().set(key, expected, value, millis), byWatch);
    }

    private WatchWay watch(Choice now) {
        return new WatchWay(connections, now.has(Ability.PUBLISH));
    }

    private static <T> CompletionStage<T> orByWatch(
            Choice now, CompletionStage<T> natively, Supplier<CompletionStage<T>> byWatch) {
        return natively.exceptionallyCompose(
                error -> now.has(Ability.WATCH) && RedisErrors.unwrap(error) instanceof RedisCommandExecutionException
                        ? byWatch.get()
                        : CompletableFuture.failedFuture(error));
    }
}
