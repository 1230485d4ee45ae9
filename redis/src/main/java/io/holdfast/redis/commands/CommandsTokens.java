package io.holdfast.redis.commands;

import io.holdfast.redis.connect.RedisConnections;
import io.holdfast.redis.server.RedisErrors;
import io.holdfast.redis.server.RedisKeys;
import io.holdfast.spi.TimeSource;
import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.cluster.api.async.RedisClusterAsyncCommands;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;

/**
 * Makes bases of fencing tokens in mode {@code commands}, by the counter that scripts also use (counter.lua). The
 * holder calls this after it got the lock.
 *
 * <p>Invariant: each base is the result of an INCR, or of a raise of the counter to a larger number that changed it in
 * one step of the server. So bases grow in the order of one register, whichever mode the clients of a fleet have. A
 * plain SET would take back what others have counted in the meantime.
 *
 * <p>Invariant: no client counts while the counter is below the floor. A raise by WATCH fails if the counter changes
 * between its two steps; clients that counted there would keep each other from raising it for as long as many ask. So
 * a raise fails only if another raise, or a client that needs none, was faster.
 *
 * <p>The floor is that of the first look, after the lock was taken: a base above it is above those of all earlier holds
 * on the name.
 */
final class CommandsTokens {

    /** As long as the scripts keep the counter. */
    private static final long KEPT_MILLIS = Duration.ofDays(1).toMillis();

    private static final long BASE_MAX = (1L << 49) - 1;

    /** Nearly always the second look finds the counter raised by the first client. */
    private static final int TRIES = 10;

    private final RedisConnections connections;
    private final RedisKeys keys;
    private final CompareWays ways;
    private final RedisErrors errors;
    private final TimeSource time;
    private final Function<RedisClusterAsyncCommands<String, String>, CompletionStage<List<String>>> serverTime;

    CommandsTokens(
            RedisConnections connections, RedisKeys keys, CompareWays ways, RedisErrors errors, TimeSource time) {
        this(connections, keys, ways, errors, time, RedisClusterAsyncCommands::time);
    }

    /**
     * @param serverTime asks for the time of the counter's server, as seconds and microseconds; tests have clocks that
     *     jump
     */
    CommandsTokens(
            RedisConnections connections,
            RedisKeys keys,
            CompareWays ways,
            RedisErrors errors,
            TimeSource time,
            Function<RedisClusterAsyncCommands<String, String>, CompletionStage<List<String>>> serverTime) {
        this.connections = connections;
        this.keys = keys;
        this.ways = ways;
        this.errors = errors;
        this.time = time;
        this.serverTime = serverTime;
    }

    /** Returns a base for a hold that has none so far: larger than all before it, and at least the server's time. */
    CompletionStage<Long> next(String name) {
        String counter = keys.counter(name);
        long began = time.nanoTime();
        CompletionStage<String> value = connections.commands().get(counter);
        CompletionStage<BaseFloor> floor =
                connections.commands(counter).thenCompose(serverTime).thenApply(BaseFloor::of);
        return floor.thenCompose(least -> new Making(counter, least, began).go(value, TRIES));
    }

    /** The steps to one base. */
    private final class Making {

        private final String counter;
        private final BaseFloor floor;
        private final long beganNanos;

        Making(String counter, BaseFloor floor, long beganNanos) {
            this.counter = counter;
            this.floor = floor;
            this.beganNanos = beganNanos;
        }

        CompletionStage<Long> go(CompletionStage<String> value, int triesLeft) {
            return value.exceptionallyCompose(this::unreadable)
                    .thenCompose(found ->
                            found == null || floor.isReached(found) ? count(triesLeft) : raise(found, triesLeft));
        }

        private CompletionStage<Long> count(int triesLeft) {
            return connections.commands().incr(counter).thenCompose(number -> {
                if (!floor.isReached(number)) {
                    // The key was not there, or was lost since it was looked at.
                    return raise(Long.toString(number), triesLeft);
                }
                if (floor.isFarBelow(number)) {
                    // The clock was set back: the counter must not expire before the clock has caught up.
                    return connections.commands().pexpire(counter, KEPT_MILLIS).thenApply(kept -> number);
                }
                return CompletableFuture.completedFuture(number);
            });
        }

        /** Raises the counter to the floor, unless it has changed in the meantime. */
        private CompletionStage<Long> raise(String from, int triesLeft) {
            long base = floor.raised();
            return ways.set(counter, from, Long.toString(base), KEPT_MILLIS).thenCompose(raised -> {
                if (raised) {
                    return CompletableFuture.completedFuture(base);
                }
                // A caller waits, so a slow server is not asked for long.
                return triesLeft > 1
                                && time.nanoTime() - beganNanos
                                        < errors.timeout().toNanos()
                        ? go(connections.commands().get(counter), triesLeft - 1)
                        : CompletableFuture.failedFuture(RedisErrors.keepsChanging(counter));
            });
        }

        /** The counter is a key of another type, or the server refuses for another reason. */
        private CompletionStage<String> unreadable(Throwable refusal) {
            if (!(RedisErrors.unwrap(refusal) instanceof RedisCommandExecutionException)) {
                return CompletableFuture.failedFuture(refusal);
            }
            return connections
                    .commands()
                    .type(counter)
                    .thenCompose(type -> CompletableFuture.failedFuture(
                            type.equals("string") || type.equals("none")
                                    ? refusal
                                    : errors.unusableCounter(counter, type)));
        }
    }

    /**
     * The least that a base may be at an instant of the server's time, as in counter.lua.
     *
     * @param least the number of the instant's tick of 1/64 s since 2020, times 2<sup>12</sup>
     * @param within how far the instant is within its tick, of 2<sup>11</sup>
     */
    record BaseFloor(long least, long within) {

        private static final long EPOCH_SECONDS = 1_577_836_800;
        private static final long TICK_MICROS = 15_625;
        private static final long SECOND = 1L << 18;

        /** @param time seconds and microseconds, as TIME answers */
        static BaseFloor of(List<String> time) {
            long micros = Long.parseLong(time.get(1));
            long tick = (Long.parseLong(time.get(0)) - EPOCH_SECONDS) * 64 + micros / TICK_MICROS;
            return new BaseFloor(tick << 12, micros % TICK_MICROS * 2048 / TICK_MICROS);
        }

        /** Returns whether the counter can continue from a value: a number that is no base counts as lost. */
        boolean isReached(String value) {
            return value.matches("[1-9]\\d{0,14}")
                    && isReached(Long.parseLong(value))
                    && Long.parseLong(value) < BASE_MAX;
        }

        boolean isReached(long number) {
            return number >= Math.max(1, least) && number <= BASE_MAX;
        }

        long raised() {
            return Math.max(1, least + within);
        }

        boolean isFarBelow(long base) {
            return base - least >= SECOND;
        }
    }
}
