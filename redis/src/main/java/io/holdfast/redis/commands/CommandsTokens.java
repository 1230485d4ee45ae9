package io.holdfast.redis.commands;

import io.holdfast.redis.connect.RedisConnections;
import io.holdfast.redis.server.RedisErrors;
import io.holdfast.redis.server.RedisKeys;
import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.cluster.api.async.RedisClusterAsyncCommands;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/**
 * Makes bases of fencing tokens in mode commands, by the counter that scripts use as well (counter.lua). The holder calls this after
 * it got the lock.
 *
 * <p>Invariant: each base is the result of an INCR, or of a raise of the counter to a larger number that changed it in one step of the
 * server. So bases grow in the order of one register, whichever mode the clients of a fleet have. A plain SET would take back what
 * others have counted meanwhile.
 */
final class CommandsTokens {

    /** As long as the scripts keep the counter. */
    private static final long KEPT_MILLIS = Duration.ofDays(1).toMillis();

    private static final long BASE_MAX = (1L << 49) - 1;

    /** Every other client that raises the counter in between raises it above the floor, so one more try is nearly always enough. */
    private static final int TRIES = 10;

    private final RedisConnections connections;
    private final RedisKeys keys;
    private final CompareWays ways;
    private final RedisErrors errors;
    private final Clock clock;

    /** Asks for the server's time, as seconds and microseconds. */
    @FunctionalInterface
    interface Clock {
        CompletionStage<List<String>> time(RedisClusterAsyncCommands<String, String> commands);
    }

    CommandsTokens(RedisConnections connections, RedisKeys keys, CompareWays ways, RedisErrors errors) {
        this(connections, keys, ways, errors, RedisClusterAsyncCommands::time);
    }

    /** @param clock of the server; tests have clocks that jump */
    CommandsTokens(RedisConnections connections, RedisKeys keys, CompareWays ways, RedisErrors errors, Clock clock) {
        this.clock = clock;
        this.connections = connections;
        this.keys = keys;
        this.ways = ways;
        this.errors = errors;
    }

    /** Returns a base for a hold that has none so far: larger than all before it, and at least the server's time. */
    CompletionStage<Long> next(String name) {
        return next(keys.counter(name), TRIES);
    }

    private CompletionStage<Long> next(String counter, int triesLeft) {
        RedisClusterAsyncCommands<String, String> commands = connections.commands();
        CompletionStage<Long> counted = commands.incr(counter);
        CompletionStage<BaseFloor> time = clock.time(commands).thenApply(BaseFloor::of);
        return counted.handle((number, error) -> {
                    if (error == null) {
                        return time.thenCompose(floor -> settle(counter, number, floor, triesLeft));
                    }
                    if (!(RedisErrors.unwrap(error) instanceof RedisCommandExecutionException)) {
                        return CompletableFuture.<Long>failedFuture(error);
                    }
                    return time.thenCompose(floor -> replace(counter, floor, error, triesLeft));
                })
                .thenCompose(base -> base);
    }

    private CompletionStage<Long> settle(String counter, long number, BaseFloor floor, int triesLeft) {
        if (number < 1 || number > BASE_MAX || number < floor.least()) {
            return raise(counter, Long.toString(number), floor, triesLeft);
        }
        if (floor.isFarBelow(number)) {
            // The clock was set back: the counter must not expire before the clock has caught up.
            return connections.commands().pexpire(counter, KEPT_MILLIS).thenApply(kept -> number);
        }
        return CompletableFuture.completedFuture(number);
    }

    /** The counter cannot be counted on: what it has is no base, or the server refuses for another reason. */
    private CompletionStage<Long> replace(String counter, BaseFloor floor, Throwable refusal, int triesLeft) {
        RedisClusterAsyncCommands<String, String> commands = connections.commands();
        return commands.type(counter).thenCompose(type -> {
            if (!type.equals("string")) {
                return CompletableFuture.failedFuture(
                        type.equals("none") ? refusal : errors.unusableCounter(counter, type));
            }
            return commands.get(counter).thenCompose(value -> {
                if (value == null || isBase(value)) {
                    return CompletableFuture.failedFuture(refusal);
                }
                return raise(counter, value, floor, triesLeft);
            });
        });
    }

    /** Raises the counter to the floor, unless it has changed meanwhile. */
    private CompletionStage<Long> raise(String counter, String from, BaseFloor floor, int triesLeft) {
        long base = floor.raised();
        return ways.set(counter, from, Long.toString(base), KEPT_MILLIS).thenCompose(raised -> {
            if (raised) {
                return CompletableFuture.completedFuture(base);
            }
            return triesLeft > 1
                    ? next(counter, triesLeft - 1)
                    : CompletableFuture.failedFuture(RedisErrors.keepsChanging(counter));
        });
    }

    private static boolean isBase(String value) {
        return value.matches("\\d{1,15}") && Long.parseLong(value) >= 1 && Long.parseLong(value) < BASE_MAX;
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

        long raised() {
            return Math.max(1, least + within);
        }

        boolean isFarBelow(long base) {
            return base - least >= SECOND;
        }
    }
}
