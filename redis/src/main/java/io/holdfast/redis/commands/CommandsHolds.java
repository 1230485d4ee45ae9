package io.holdfast.redis.commands;

import io.holdfast.redis.server.RedisErrors;
import io.holdfast.spi.RenewReply;
import io.holdfast.spi.RenewReply.Gone;
import io.holdfast.spi.RenewReply.Renewed;
import io.holdfast.spi.RenewReply.Superseded;
import io.holdfast.spi.RenewRequest;
import io.holdfast.spi.StoreException;
import io.holdfast.spi.TimeSource;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The holds of one client in mode {@code commands}, and their renewals.
 *
 * <p>A comparison by the server sees the value of a key, not how long the key lasts. So this class keeps the contract
 * about lengths (a renewal never shortens, an exact setting may, and neither undoes what was sent after it); see {@link
 * CommandsHold}.
 */
public final class CommandsHolds {

    private static final int TRIES = 5;

    private record Key(String name, String id) {}

    private final CompareWays ways;
    private final ForeignKeys foreign;
    private final RedisErrors errors;
    private final TimeSource time;

    /** The holds, each from the grant until it is released, withdrawn or found gone. */
    private final Map<Key, CommandsHold> holds = new ConcurrentHashMap<>();

    /**
     * The unknown holds that were lengthened with an unknown outcome: that write may still be executed, at any time.
     */
    private final Set<Key> uncertain = ConcurrentHashMap.newKeySet();

    CommandsHolds(CompareWays ways, ForeignKeys foreign, RedisErrors errors, TimeSource time) {
        this.ways = ways;
        this.foreign = foreign;
        this.errors = errors;
        this.time = time;
    }

    /** Begins a hold of this length at this instant on the local clock. A known hold stays as it is. */
    void begin(String name, String id, String value, long base, long sentNanos, long leaseMillis) {
        known(new Key(name, id), value, base, until(sentNanos, leaseMillis));
    }

    /** Returns what is known of a hold; null if nothing is. */
    @Nullable
    CommandsHold known(String name, String id) {
        return holds.get(new Key(name, id));
    }

    private CommandsHold known(Key key, String value, long base, long untilNanos) {
        return holds.computeIfAbsent(key, k -> {
            CommandsHold hold = new CommandsHold(key.id(), value, base, untilNanos);
            hold.uncertain = uncertain.contains(key);
            return hold;
        });
    }

    /** Forgets a hold because it ends, and returns it. */
    @Nullable
    CommandsHold remove(String name, String id) {
        Key key = new Key(name, id);
        uncertain.remove(key);
        return holds.remove(key);
    }

    /** For tests. */
    int size() {
        return holds.size() + uncertain.size();
    }

    /**
     * Lengthens the hold of an id whose acquire was repeated, unless it is long enough.
     *
     * @return false if the key has changed in the meantime
     */
    CompletionStage<Boolean> lengthen(String name, String id, String value, long leaseMillis) {
        Key key = new Key(name, id);
        CommandsHold known = holds.get(key);
        if (known == null) {
            return ways.set(name, value, value, leaseMillis).whenComplete((done, error) -> {
                if (error != null && errors.of(error).outcome() == StoreException.Outcome.UNKNOWN) {
                    uncertain.add(key);
                }
            });
        }
        return known.next(() -> renewed(name, known, leaseMillis, known.sequence, false, TRIES))
                .thenApply(reply -> reply instanceof Renewed);
    }

    /** @param base asks for the base of a hold that is not known yet */
    CompletionStage<RenewReply> renew(RenewRequest request, Supplier<CompletionStage<Long>> base) {
        Key key = new Key(request.name(), request.holderId());
        CommandsHold known = holds.get(key);
        if (known != null) {
            return renew(request, known);
        }
        return foreign.value(request.name()).thenCompose(value -> {
            if (value == null || isGone(key.id(), value)) {
                return CompletableFuture.completedFuture(new Gone());
            }
            // The length of the hold is unknown.
            long now = time.nanoTime();
            return base.get().thenCompose(number -> renew(request, known(key, value, number, now)));
        });
    }

    private CompletionStage<RenewReply> renew(RenewRequest request, CommandsHold hold) {
        String name = request.name();
        return hold.next(() -> request.isLook()
                        ? looked(name, hold)
                        : renewed(name, hold, request.leaseMillis(), request.sequence(), request.exact(), TRIES))
                .thenApply(reply -> {
                    if (reply instanceof Gone) {
                        holds.remove(new Key(name, hold.id), hold);
                    }
                    return reply;
                });
    }

    /** A step of the hold that neither writes nor promises anything. */
    private CompletionStage<RenewReply> looked(String name, CommandsHold hold) {
        return foreign.value(name).thenApply(value -> isGone(hold.id, value) ? new Gone() : new Renewed(0));
    }

    private static boolean isGone(String id, @Nullable String value) {
        return value == null || !CommandsHold.isOf(id, value);
    }

    /** A step of the hold. */
    private CompletionStage<RenewReply> renewed(
            String name, CommandsHold hold, long leaseMillis, long sequence, boolean exact, int triesLeft) {
        boolean late = sequence < hold.sequence || (exact && sequence == hold.executed);
        hold.sequence = Math.max(hold.sequence, sequence);
        long until = until(time.nanoTime(), leaseMillis);
        if (late || (!exact && until - hold.untilNanos <= 0)) {
            // There is nothing to set; but only the server knows whether the id still holds.
            boolean longEnough = sequence == hold.sequence && until - hold.untilNanos <= 0;
            return foreign.value(name)
                    .thenApply(value ->
                            isGone(hold.id, value) ? new Gone() : longEnough ? done(hold, sequence) : new Superseded());
        }
        return write(name, hold, leaseMillis, until, exact, triesLeft)
                .thenApply(reply -> reply instanceof Renewed ? done(hold, sequence) : reply);
    }

    /**
     * Uses up the number of a setting, because the reply promises a time. A failed setting is repeated with its number.
     */
    private static RenewReply done(CommandsHold hold, long sequence) {
        hold.executed = Math.max(hold.executed, sequence);
        return new Renewed(0);
    }

    private CompletionStage<RenewReply> write(
            String name, CommandsHold hold, long leaseMillis, long until, boolean exact, int triesLeft) {
        String before = hold.value;
        String after = exact || hold.uncertain ? hold.newValue() : before;
        CompletionStage<Boolean> writing = foreign.notHeldOr(name, ways.set(name, before, after, leaseMillis), false);
        return writing.handle((done, error) -> {
                    if (error != null) {
                        return failed(hold, until, exact, error);
                    }
                    if (done) {
                        hold.value = after;
                        hold.untilNanos = until;
                        hold.uncertain = false;
                        return CompletableFuture.<RenewReply>completedFuture(new Renewed(0));
                    }
                    return again(name, hold, leaseMillis, until, exact, triesLeft);
                })
                .thenCompose(reply -> reply);
    }

    private CompletionStage<RenewReply> failed(CommandsHold hold, long until, boolean exact, Throwable error) {
        StoreException failure = errors.of(error);
        if (failure.outcome() == StoreException.Outcome.UNKNOWN) {
            hold.uncertain = true;
            if (exact && until - hold.untilNanos < 0) {
                // If the write is executed after all, the hold ends at this time or later.
                hold.untilNanos = until;
            }
        }
        return CompletableFuture.failedFuture(error);
    }

    /** Asks why the key has another value: the hold is gone, or a write of unknown outcome was executed. */
    private CompletionStage<RenewReply> again(
            String name, CommandsHold hold, long leaseMillis, long until, boolean exact, int triesLeft) {
        return foreign.value(name).thenCompose(value -> {
            if (isGone(hold.id, value)) {
                return CompletableFuture.completedFuture(new Gone());
            }
            if (triesLeft == 1) {
                return CompletableFuture.failedFuture(RedisErrors.keepsChanging(name));
            }
            hold.value = Objects.requireNonNull(value);
            return write(name, hold, leaseMillis, until, exact, triesLeft - 1);
        });
    }

    /**
     * Returns the earliest end of a hold that was sent at this instant or later; less 1 % and 2 ms for the server's
     * clock.
     */
    private static long until(long sentNanos, long leaseMillis) {
        return sentNanos + leaseMillis * 990_000 - 2_000_000;
    }
}
