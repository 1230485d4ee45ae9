package io.holdfast.redis.commands;

import io.holdfast.redis.commands.ConditionalDelete.Deletion;
import io.holdfast.redis.connect.RedisConnections;
import io.holdfast.redis.server.RedisErrors;
import io.holdfast.spi.ForceReply;
import io.holdfast.spi.StoreState;
import io.lettuce.core.RedisCommandExecutionException;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;

/**
 * Lock keys as mode {@code commands} finds them. Its own locks and hand-written locks are strings; a hash is a lock of
 * mode {@code lua} or of Redisson. Any key counts as held.
 *
 * <p>A command on strings says only that the key has another type; {@code TYPE}, a round trip later, says which. By
 * then the hash may be gone, or another client's string may be in its place. The first answer remains true: at that
 * time the key was no string, so no id of this mode held it.
 */
public final class ForeignKeys {

    /** Stands for the holder of a hash that was not read. */
    static final String HASH = "a hash";

    /** How often a deletion starts again because the key changed in the meantime. */
    private static final int TRIES = 5;

    private final RedisConnections connections;
    private final RedisErrors errors;

    ForeignKeys(RedisConnections connections, RedisErrors errors) {
        this.connections = connections;
        this.errors = errors;
    }

    /**
     * Returns the value of the lock key, or {@link #HASH}; null if the key is not there, or has changed between the two
     * questions. Fails if the key has another type.
     */
    CompletionStage<@Nullable String> holderOr(String name, CompletionStage<String> value) {
        return orOfType(
                name,
                nullable(value),
                CompletableFuture.<@Nullable String>completedFuture(null),
                type -> type.equals("hash")
                        ? CompletableFuture.<@Nullable String>completedFuture(HASH)
                        : CompletableFuture.<@Nullable String>failedFuture(errors.unusableKey(name, type)));
    }

    /** Returns the value of the lock key; null if the key is not there or no string. */
    CompletionStage<@Nullable String> value(String name) {
        CompletionStage<@Nullable String> none = CompletableFuture.<@Nullable String>completedFuture(null);
        return orOfType(name, nullable(connections.commands().get(name)), none, type -> none);
    }

    @SuppressWarnings("NullAway") // the driver answers null where there is no key, and does not say so
    private static CompletionStage<@Nullable String> nullable(CompletionStage<String> value) {
        return value.thenApply(text -> (@Nullable String) text);
    }

    /**
     * Returns the answer of a command on strings, or the given one if the key has another type: no id of this mode
     * holds it then.
     */
    <T> CompletionStage<T> notHeldOr(String name, CompletionStage<T> answer, T notHeld) {
        CompletionStage<T> other = CompletableFuture.completedFuture(notHeld);
        return orOfType(name, answer, other, type -> other);
    }

    /**
     * Returns the answer of a command on strings.
     *
     * @param changed the answer if the key had another type, and has it no longer
     * @param otherwise makes the answer for a key of another type
     */
    private <T extends @Nullable Object> CompletionStage<T> orOfType(
            String name,
            CompletionStage<T> answer,
            CompletionStage<T> changed,
            Function<String, CompletionStage<T>> otherwise) {
        return answer.exceptionallyCompose(error -> {
            if (!(RedisErrors.unwrap(error) instanceof RedisCommandExecutionException)) {
                return CompletableFuture.failedFuture(error);
            }
            return connections.commands().type(name).thenCompose(type -> {
                if (!type.equals("string") && !type.equals("none")) {
                    return otherwise.apply(type);
                }
                return isAboutType(error) ? changed : CompletableFuture.failedFuture(error);
            });
        });
    }

    /** Returns whether a refusal is due to the key's type. The second text is Redis's answer to DELEX. */
    private static boolean isAboutType(Throwable refusal) {
        Throwable cause = RedisErrors.unwrap(refusal);
        String said = cause == null ? "" : String.valueOf(cause.getMessage());
        return said.startsWith("WRONGTYPE ") || said.startsWith("ERR Key should be of string type");
    }

    /** What a release by force did: the answer, and the deletion, which is to be announced. */
    record Forced(ForceReply reply, Deletion deletion) {

        private static Optional<Forced> nothing(ForceReply why) {
            return Optional.of(new Forced(why, Deletion.NONE));
        }
    }

    /**
     * Ends the hold of the expected holder, even another library's; fails if the key is not, or not only, a lock.
     * Deletes only what was read: a string by comparison, of a hash the fields.
     *
     * @param expected the holder as {@link #inspect} shows it; null for whichever has the lock
     */
    CompletionStage<Forced> force(String name, @Nullable String expected, ConditionalDelete strings) {
        return force(name, expected, strings, TRIES);
    }

    private CompletionStage<Forced> force(
            String name, @Nullable String expected, ConditionalDelete strings, int triesLeft) {
        return connections
                .commands()
                .type(name)
                .thenCompose(type -> switch (type) {
                    case "none" -> CompletableFuture.completedFuture(Forced.nothing(new ForceReply.Free()));
                    case "string" -> forceString(name, expected, strings);
                    case "hash" -> notHeldOr(name, forceHash(name, expected), Optional.<Forced>empty());
                    default -> keep(name, expected, Holders.ofType(type));
                })
                .thenCompose(forced -> {
                    if (forced.isPresent()) {
                        return CompletableFuture.completedFuture(forced.get());
                    }
                    return triesLeft > 1
                            ? force(name, expected, strings, triesLeft - 1)
                            : CompletableFuture.failedFuture(RedisErrors.keepsChanging(name));
                });
    }

    /** Keeps a key that another holder has, or that is not, or not only, a lock. */
    private CompletionStage<Optional<Forced>> keep(String name, @Nullable String expected, String holder) {
        return isOther(expected, holder)
                ? CompletableFuture.completedFuture(Forced.nothing(new ForceReply.HeldBy(holder)))
                : CompletableFuture.failedFuture(errors.notDeleted(name, holder));
    }

    private static boolean isOther(@Nullable String expected, String holder) {
        return expected != null && !expected.equals(holder);
    }

    /** Completes without a value if the key has changed since its type was asked for, like {@link #forceHash}. */
    private CompletionStage<Optional<Forced>> forceString(
            String name, @Nullable String expected, ConditionalDelete strings) {
        CompletionStage<@Nullable String> value = value(name);
        CompletionStage<Long> remaining = connections.commands().pttl(name);
        return value.thenCombine(remaining, (found, left) -> {
                    if (found == null || left == -2) {
                        return CompletableFuture.completedFuture(Optional.<Forced>empty());
                    }
                    String holder = Holders.inString(found, left >= 0);
                    if (isOther(expected, holder) || (left < 0 && !Holders.isOurs(holder))) {
                        return keep(name, expected, holder);
                    }
                    // Not by the holder: a renewal may have changed the number behind it.
                    return notHeldOr(name, strings.delete(name, found), Deletion.NONE)
                            .thenApply(deletion -> ended(holder, deletion));
                })
                .thenCompose(forced -> forced);
    }

    private static Optional<Forced> ended(String holder, Deletion deletion) {
        return deletion.done() ? Optional.of(new Forced(new ForceReply.Ended(holder), deletion)) : Optional.empty();
    }

    private CompletionStage<Optional<Forced>> forceHash(String name, @Nullable String expected) {
        return hashOf(name).thenCompose(fields -> {
            StoreState held = holderIn(fields);
            if (held == null) {
                return CompletableFuture.completedFuture(Optional.<Forced>empty());
            }
            String holder = Objects.requireNonNull(held.holder());
            if (isOther(expected, holder)) {
                return keep(name, expected, holder);
            }
            if (fields == null
                    || fields.keySet().stream().noneMatch(Holders::isHold)
                    || !fields.keySet().stream().allMatch(Holders::isLocks)) {
                return CompletableFuture.failedFuture(errors.notDeleted(name, Holders.ofType("hash")));
            }
            return connections
                    .commands()
                    .hdel(name, fields.keySet().toArray(String[]::new))
                    .thenApply(deleted -> ended(holder, new Deletion(deleted > 0, Deletion.NOT_TOLD)));
        });
    }

    /** Returns the fields of a hash; null if it has more than a lock. */
    private CompletionStage<@Nullable Map<String, String>> hashOf(String name) {
        return connections
                .commands()
                .hlen(name)
                .thenCompose(fields -> fields > Holders.FIELDS_MAX
                        ? CompletableFuture.<@Nullable Map<String, String>>completedFuture(null)
                        : connections.commands().hgetall(name).thenApply(all -> (@Nullable Map<String, String>) all));
    }

    /**
     * Inspects the key. The server stores no token base in this mode.
     *
     * @param bases the token base of a holder id; zero if it is not known
     * @param channel where waiting clients listen; null if none can
     */
    CompletionStage<StoreState> inspect(String name, ToLongFunction<String> bases, @Nullable String channel) {
        CompletionStage<Integer> waiting = channel == null ? CompletableFuture.completedFuture(0) : listeners(channel);
        CompletionStage<Long> remaining = connections.commands().pttl(name);
        CompletionStage<String> value = connections.commands().get(name);
        return value.handle((text, error) -> error == null
                        ? string(text, remaining, bases)
                        : orOfType(
                                name,
                                CompletableFuture.<@Nullable StoreState>failedFuture(error),
                                CompletableFuture.<@Nullable StoreState>completedFuture(null),
                                type -> ofType(name, type)))
                .thenCompose(state -> state)
                .thenCombine(
                        remaining,
                        (found, left) -> found == null || left == -2
                                ? StoreState.free(0)
                                : new StoreState(found.holder(), left, found.base(), 0))
                .thenCombine(
                        waiting,
                        (found, count) -> new StoreState(found.holder(), found.remainingMillis(), found.base(), count));
    }

    private static CompletionStage<@Nullable StoreState> string(
            @Nullable String value, CompletionStage<Long> remaining, ToLongFunction<String> bases) {
        if (value == null) {
            return CompletableFuture.completedFuture(null);
        }
        return remaining.thenApply(left -> {
            String holder = Holders.inString(value, left >= 0);
            return StoreState.heldBy(holder, bases.applyAsLong(holder));
        });
    }

    private CompletionStage<@Nullable StoreState> ofType(String name, String type) {
        if (!type.equals("hash")) {
            return CompletableFuture.<@Nullable StoreState>completedFuture(StoreState.heldBy(Holders.ofType(type)));
        }
        return hashOf(name)
                .<@Nullable StoreState>thenApply(ForeignKeys::holderIn)
                .exceptionallyCompose(error -> isAboutType(error)
                        ? CompletableFuture.<@Nullable StoreState>completedFuture(null)
                        : CompletableFuture.<@Nullable StoreState>failedFuture(error));
    }

    private static @Nullable StoreState holderIn(@Nullable Map<String, String> fields) {
        if (fields != null && fields.isEmpty()) {
            return null;
        }
        if (fields != null) {
            for (Map.Entry<String, String> field : fields.entrySet()) {
                if (Holders.isHold(field.getKey())) {
                    boolean ours =
                            Holders.isOurs(field.getKey()) && field.getValue().matches("(b|s\\d{1,18}:)\\d{1,18}");
                    long base = ours ? Long.parseLong(field.getValue().replaceFirst("b|.*:", "")) : 0;
                    return StoreState.heldBy(field.getKey(), base);
                }
            }
        }
        return StoreState.heldBy(Holders.ofType("hash"));
    }

    /** Returns how many clients listen on a channel for the release; 0 if that is not known. */
    CompletionStage<Integer> listeners(String channel) {
        return connections.commands().pubsubNumsub(channel).handle((counts, error) -> {
            Long count = error == null ? counts.get(channel) : null;
            return count == null ? 0 : count.intValue();
        });
    }
}
