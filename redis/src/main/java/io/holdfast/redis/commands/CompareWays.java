package io.holdfast.redis.commands;

import io.holdfast.redis.connect.DedicatedConnections;
import io.holdfast.redis.server.RedisErrors;
import io.lettuce.core.RedisCommandExecutionException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The comparisons, each by the way that was chosen for the server that is connected now ({@link CompareProbe}).
 *
 * <p>A server that refuses its native command (after a failover to an older one that was not probed yet; a node of a
 * cluster that is upgraded; one out of memory, which refuses SET but not PEXPIRE) is asked again by {@code WATCH}, if it
 * has that: every way compares, so it does not matter which one is taken.
 */
public final class CompareWays implements ConditionalDelete, ConditionalSet {

    public enum DeleteBy {
        DELIFEQ,
        DELEX,
        WATCH
    }

    public enum SetBy {
        SET_IFEQ,
        WATCH
    }

    /**
     * What a server offers this user.
     *
     * @param watch whether WATCH, MULTI and EXEC are allowed
     * @param publishes whether PUBLISH is allowed
     * @param streams whether the commands of streams are there and allowed
     */
    public record Choice(DeleteBy delete, SetBy set, boolean watch, boolean publishes, boolean streams) {

        /** For people. */
        @Override
        public String toString() {
            String release = delete == DeleteBy.WATCH ? "WATCH/MULTI" : delete.name();
            String renewal = set == SetBy.WATCH ? "WATCH/MULTI" : "SET IFEQ";
            return "releases by " + release + ", renews by " + renewal + ", tokens by " + (streams ? "XADD" : "INCR")
                    + (publishes ? "" : ", waits by polling");
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
    public CompletionStage<Deletion> delete(String key, String expected, String channel) {
        Choice now = choice;
        ConditionalDelete watch = watch(now);
        ConditionalDelete way = switch (now.delete()) {
            case DELIFEQ -> nativeWays.delifeq();
            case DELEX -> nativeWays.delex();
            case WATCH -> watch;
        };
        return orElse(
                way.delete(key, expected, channel),
                now.delete() == DeleteBy.WATCH || !now.watch() ? null : () -> watch.delete(key, expected, channel));
    }

    @Override
    public CompletionStage<Boolean> set(String key, String expected, String value, long millis) {
        Choice now = choice;
        ConditionalSet watch = watch(now);
        ConditionalSet way = now.set() == SetBy.WATCH ? watch : nativeWays.set();
        return orElse(
                way.set(key, expected, value, millis),
                now.set() == SetBy.WATCH || !now.watch() ? null : () -> watch.set(key, expected, value, millis));
    }

    private WatchWay watch(Choice now) {
        return new WatchWay(connections, now.publishes());
    }

    private static <T> CompletionStage<T> orElse(
            CompletionStage<T> first, @Nullable Supplier<CompletionStage<T>> second) {
        if (second == null) {
            return first;
        }
        return first.exceptionallyCompose(error -> RedisErrors.unwrap(error) instanceof RedisCommandExecutionException
                ? second.get()
                : CompletableFuture.failedFuture(error));
    }
}
