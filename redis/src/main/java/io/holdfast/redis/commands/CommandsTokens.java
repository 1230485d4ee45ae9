package io.holdfast.redis.commands;

import io.holdfast.redis.connect.RedisConnections;
import io.holdfast.redis.server.RedisErrors;
import io.holdfast.redis.server.RedisKeys;
import io.holdfast.spi.StoreException;
import io.holdfast.spi.TimeSource;
import io.lettuce.core.Limit;
import io.lettuce.core.Range;
import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.SetArgs;
import io.lettuce.core.StreamMessage;
import io.lettuce.core.XAddArgs;
import io.lettuce.core.cluster.api.async.RedisClusterAsyncCommands;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Bases of fencing tokens in the commands mode: the ids of a stream that keeps its last entry only. The server makes
 * the ids: they never go back, and its clock is their floor. Only the holder of the lock asks for one.
 *
 * <p>Scripts keep their last base in a string. So that bases grow however the modes alternate on a name, each mode
 * reads or writes the other's. An entry that is not above the string is not used. Where a script may have been used, or
 * may be used within the same millisecond, the string is raised before the lease is handed out. A client changes these
 * keys only while it holds the lock, or later, which wastes numbers.
 *
 * <p>Where the server has no streams, the string is incremented: the bases grow, but the clock is not their floor.
 */
public final class CommandsTokens {

    /** As long as the scripts keep their string. */
    private static final Duration KEPT = Duration.ofDays(1);

    /** For the string where it alone knows the order, because no clock is its floor. */
    private static final Duration KEPT_FOR_GOOD = Duration.ofDays(3650);

    private static final long BASE_MAX = (1L << 47) - 1;
    private static final int TRIES = 10;
    private static final int REMEMBERED_MAX = 1_000;
    private static final String FIELD = "h";
    private static final String SIGN = "+";

    private final RedisConnections connections;
    private final RedisKeys keys;
    private final TimeSource time;
    private final ReentrantLock lock = new ReentrantLock();

    /** When this client last set the expiry of a key, which is not needed each time. */
    private final Map<String, Long> expirySet = new LinkedHashMap<>(16, 0.75f, true) { // by lock
                private static final long serialVersionUID = 1;

                @Override
                protected boolean removeEldestEntry(Map.Entry<String, Long> eldest) {
                    return size() > REMEMBERED_MAX;
                }
            };

    CommandsTokens(RedisConnections connections, RedisKeys keys, TimeSource time) {
        this.connections = connections;
        this.keys = keys;
        this.time = time;
    }

    /** Makes a base for a hold that has just begun. */
    CompletionStage<Long> next(String name, String id, boolean streams) {
        return streams ? add(name, id, TRIES) : count(name);
    }

    /** Returns the base of a hold that may have one already: that of its own entry, if no base was made since. */
    CompletionStage<Long> current(String name, String id, boolean streams) {
        if (!streams) {
            return next(name, id, false);
        }
        CompletionStage<List<StreamMessage<String, String>>> last = last(name);
        CompletionStage<String> scripts = commands().get(keys.base(name));
        return last.thenCombine(scripts, (entries, string) -> {
                    long own = baseOf(entries, id);
                    return own > number(string) ? raised(name, own, false, string) : next(name, id, true);
                })
                .thenCompose(base -> base);
    }

    /** Returns the last entry of a name's stream, at most one. */
    CompletionStage<List<StreamMessage<String, String>>> last(String name) {
        return commands().xrevrange(keys.stream(name), Range.unbounded(), Limit.from(1));
    }

    /** Returns the base in the entry if it is this id's, otherwise 0. */
    static long baseOf(List<StreamMessage<String, String>> entries, String id) {
        if (entries.isEmpty() || !id.equals(entries.get(0).getBody().get(FIELD))) {
            return 0;
        }
        StreamBase entry = StreamBase.parse(entries.get(0).getId());
        return entry.hasBase() && entry.isInRange() ? entry.base() : 0;
    }

    private CompletionStage<Long> add(String name, String id, int triesLeft) {
        CompletionStage<String> added = commands().xadd(keys.stream(name), new XAddArgs().maxlen(1), FIELD, id);
        CompletionStage<String> scripts = commands().get(keys.base(name));
        expire(keys.stream(name));
        return added.thenCombine(scripts, (entry, string) -> {
                    StreamBase made = StreamBase.parse(entry);
                    return settle(name, id, made, made.sequence() == 0, string, triesLeft);
                })
                .thenCompose(base -> base);
    }

    /**
     * Makes a base from an entry, or from a later entry.
     *
     * @param fresh whether the entry has the server's time, and is the first of its millisecond: every base that a
     *     script makes from now on is larger then
     * @param string the scripts' last base, which does not change while this client holds the lock
     */
    private CompletionStage<Long> settle(
            String name, String id, StreamBase entry, boolean fresh, @Nullable String string, int triesLeft) {
        if (!entry.isInRange()) {
            return CompletableFuture.failedFuture(new StoreException(
                    StoreException.Outcome.FATAL,
                    "No fencing token can be made from the id " + entry.id() + " in the stream \"" + keys.stream(name)
                            + "\" (expected: a time before the year 2248; see who else writes that key, and delete it)",
                    null));
        }
        StreamBase needed;
        if (!entry.hasBase()) {
            needed = entry.next();
        } else if (entry.base() <= number(string)) {
            needed = StreamBase.of(number(string) + 1);
        } else {
            return raised(name, entry.base(), fresh, string);
        }
        CompletionStage<String> added =
                commands().xadd(keys.stream(name), new XAddArgs().maxlen(1).id(needed.id()), FIELD, id);
        return added.handle((made, error) -> {
                    if (error == null) {
                        return settle(name, id, needed, false, string, triesLeft);
                    }
                    if (triesLeft > 1 && RedisErrors.unwrap(error) instanceof RedisCommandExecutionException) {
                        // An entry of a client that no longer holds is above it.
                        return add(name, id, triesLeft - 1);
                    }
                    return CompletableFuture.<Long>failedFuture(error);
                })
                .thenCompose(base -> base);
    }

    /**
     * Raises the scripts' last base where that is needed: scripts were used on the name within a day, or the next
     * script could make a smaller one. A sign, which scripts ignore, marks a base that was raised only for the second
     * reason, so that the next hold does not take it for the first.
     */
    private CompletionStage<Long> raised(String name, long base, boolean fresh, @Nullable String string) {
        boolean scriptsUsed = string != null && !string.startsWith(SIGN);
        if (fresh && !scriptsUsed) {
            return CompletableFuture.completedFuture(base);
        }
        String text = (scriptsUsed ? "" : SIGN) + base;
        return commands()
                .set(keys.base(name), text, SetArgs.Builder.px(KEPT.toMillis()))
                .thenApply(ok -> base);
    }

    /** Makes a base without streams. INCR refuses a number with a sign. */
    private CompletionStage<Long> count(String name) {
        String key = keys.base(name);
        CompletionStage<Long> counted = commands().incr(key);
        // Each time: scripts may have been used since, whose string expires in a day. INCR does not change that.
        var unused = commands().pexpire(key, KEPT_FOR_GOOD.toMillis());
        return counted.exceptionallyCompose(error ->
                !(RedisErrors.unwrap(error) instanceof RedisCommandExecutionException)
                        ? CompletableFuture.failedFuture(error)
                        : commands().get(key).thenCompose(string -> {
                            if (string == null || !string.startsWith(SIGN)) {
                                return CompletableFuture.failedFuture(error);
                            }
                            long next = number(string) + 1;
                            return commands().set(key, Long.toString(next)).thenApply(ok -> next);
                        }));
    }

    private void expire(String key) {
        long now = time.nanoTime();
        lock.lock();
        try {
            Long set = expirySet.get(key);
            if (set != null && now - set < KEPT.toNanos() / 2) {
                return;
            }
            expirySet.put(key, now);
        } finally {
            lock.unlock();
        }
        commands().pexpire(key, KEPT.toMillis()).whenComplete((done, error) -> {
            if (error != null) {
                forget(key);
            }
        });
    }

    private void forget(String key) {
        lock.lock();
        try {
            expirySet.remove(key);
        } finally {
            lock.unlock();
        }
    }

    private RedisClusterAsyncCommands<String, String> commands() {
        return connections.commands();
    }

    private static long number(@Nullable String text) {
        long number = text != null && text.matches("\\+?\\d{1,18}") ? Long.parseLong(text) : 0;
        // A number that tokens have no room for was written by another program, and counts as lost.
        return number < BASE_MAX ? number : 0;
    }
}
