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
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The holds of one client in the mode without scripts, and how they are renewed.
 *
 * <p>A comparison by the server sees the value of a key and not how long it lasts. So what the contract asks of lengths
 * (a renewal never shortens, an exact setting does, and neither undoes what was sent after it) is kept here, as {@link
 * CommandsHold} says.
 */
public final class CommandsHolds {

    private static final int TRIES = 5;

    private record Key(String name, String id) {}

    private final CompareWays ways;
    private final ForeignKeys foreign;
    private final RedisErrors errors;
    private final TimeSource time;

    /** Each from the grant until it is released, withdrawn or found gone. */
    private final Map<Key, CommandsHold> holds = new ConcurrentHashMap<>();

    /** Those not known yet that were lengthened, with an unknown outcome: that write may still be executed, at any time. */
    private final Set<Key> uncertain = ConcurrentHashMap.newKeySet();

    CommandsHolds(CompareWays ways, ForeignKeys foreign, RedisErrors errors, TimeSource time) {
        this.ways = ways;
        this.foreign = foreign;
        this.errors = errors;
        this.time = time;
    }

    /** The id holds, for this long from this instant on the local clock. A hold that is known already stays as it is. */
    void begin(String name, String id, String value, long base, long sentNanos, long leaseMillis) {
        known(new Key(name, id), value, base, until(sentNanos, leaseMillis));
    }

    private CommandsHold known(Key key, String value, long base, long untilNanos) {
        return holds.computeIfAbsent(key, k -> {
            CommandsHold hold = new CommandsHold(key.id(), value, base, untilNanos);
            hold.uncertain = uncertain.contains(key);
            return hold;
        });
    }

    /** Forgets a hold, for its end. */
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
     * Lengthens the hold of an id whose acquire came again, unless it is long enough.
     *
     * @return false if the key has changed meanwhile
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

    /** @param base asks for the base of a hold that is not known here */
    CompletionStage<RenewReply> renew(RenewRequest request, Supplier<CompletionStage<Long>> base) {
        Key key = new Key(request.name(), request.holderId());
        CommandsHold known = holds.get(key);
        if (known != null) {
            return renew(request, known);
        }
        return foreign.value(request.name()).thenCompose(value -> {
            if (value == null || !CommandsHold.isOf(key.id(), value)) {
                return CompletableFuture.completedFuture(new Gone());
            }
            // Nothing is known of its length.
            long now = time.nanoTime();
            return base.get().thenCompose(number -> renew(request, known(key, value, number, now)));
        });
    }

    private CompletionStage<RenewReply> renew(RenewRequest request, CommandsHold hold) {
        return hold.next(() -> request.isLook()
                        ? looked(request.name(), hold)
                        : renewed(
                                request.name(),
                                hold,
                                request.leaseMillis(),
                                request.sequence(),
                                request.exact(),
                                TRIES))
                .thenApply(reply -> {
                    if (reply instanceof Gone) {
                        holds.remove(new Key(request.name(), hold.id), hold);
                    }
                    return reply;
                });
    }

    /** A step of the hold that writes nothing, and promises nothing. */
    private CompletionStage<RenewReply> looked(String name, CommandsHold hold) {
        return foreign.value(name)
                .thenApply(value ->
                        value == null || !CommandsHold.isOf(hold.id, value) ? new Gone() : new Renewed(hold.base, 0));
    }

    /** A step of the hold. */
    private CompletionStage<RenewReply> renewed(
            String name, CommandsHold hold, long leaseMillis, long sequence, boolean exact, int triesLeft) {
        boolean late = sequence < hold.sequence || (exact && sequence == hold.executed);
        hold.sequence = Math.max(hold.sequence, sequence);
        long until = until(time.nanoTime(), leaseMillis);
        if (late || (!exact && until - hold.untilNanos <= 0)) {
            // Nothing to set; but whether it is still held, only the server knows.
            boolean longEnough = sequence == hold.sequence && until - hold.untilNanos <= 0;
            return foreign.value(name).thenApply(value -> {
                if (value == null || !CommandsHold.isOf(hold.id, value)) {
                    return new Gone();
                }
                return longEnough ? done(hold, sequence) : new Superseded();
            });
        }
        return write(name, hold, leaseMillis, until, exact, triesLeft)
                .thenApply(reply -> reply instanceof Renewed ? done(hold, sequence) : reply);
    }

    /** A setting that failed has not used up its number: it is repeated under the same. Whatever is promised does. */
    private static RenewReply done(CommandsHold hold, long sequence) {
        hold.executed = Math.max(hold.executed, sequence);
        return new Renewed(hold.base, 0);
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
                        return CompletableFuture.<RenewReply>completedFuture(new Renewed(hold.base, 0));
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
                // If it is executed after all, this is when the hold ends, or later.
                hold.untilNanos = until;
            }
        }
        return CompletableFuture.failedFuture(error);
    }

    /** It has another value: gone, or a write of unknown outcome was executed. */
    private CompletionStage<RenewReply> again(
            String name, CommandsHold hold, long leaseMillis, long until, boolean exact, int triesLeft) {
        return foreign.value(name).thenCompose(value -> {
            if (value == null || !CommandsHold.isOf(hold.id, value)) {
                return CompletableFuture.completedFuture(new Gone());
            }
            if (triesLeft == 1) {
                return CompletableFuture.failedFuture(RedisErrors.keepsChanging(name));
            }
            hold.value = value;
            return write(name, hold, leaseMillis, until, exact, triesLeft - 1);
        });
    }

    /** When a hold ends at the earliest that the server was told of not before this instant; 1 % and 2 ms for its clock. */
    private static long until(long sentNanos, long leaseMillis) {
        return sentNanos + leaseMillis * 990_000 - 2_000_000;
    }
}
