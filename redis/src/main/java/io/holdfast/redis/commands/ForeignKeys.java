package io.holdfast.redis.commands;

import io.holdfast.redis.commands.ConditionalDelete.Deletion;
import io.holdfast.redis.connect.RedisConnections;
import io.holdfast.redis.server.RedisErrors;
import io.holdfast.spi.StoreState;
import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.StreamMessage;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * Lock keys as the mode without scripts finds them: its own are strings, as are hand-written locks; a hash is a lock of
 * the mode with scripts, or Redisson's. Whatever is there counts as held.
 *
 * <p>A command on strings says only that the key is of another type; of which, {@code TYPE} says a round trip later. By then
 * a hash may be gone, or another client's string in its place. The first answer stands all the same: at that time the key
 * was no string, so no id of this mode held it.
 */
public final class ForeignKeys {

    /** What stands for the holder where nobody has looked into the hash. */
    static final String HASH = "a hash";

    /** How often a deletion begins anew because the key changed under it. */
    private static final int TRIES = 5;

    private final RedisConnections connections;
    private final RedisErrors errors;

    ForeignKeys(RedisConnections connections, RedisErrors errors) {
        this.connections = connections;
        this.errors = errors;
    }

    /**
     * The value of the lock key, or what stands for the holder if it is not a string; null if it is not there, or was
     * another when its type was asked for.
     */
    CompletionStage<@Nullable String> holderOr(String name, CompletionStage<String> value) {
        return nullable(value)
                .exceptionallyCompose(error -> typeAfter(name, error).thenCompose(type -> switch (type) {
                    case "hash" -> CompletableFuture.<@Nullable String>completedFuture(HASH);
                    case "string", "none" ->
                        changedSince(error, CompletableFuture.<@Nullable String>completedFuture(null));
                    default -> CompletableFuture.<@Nullable String>failedFuture(errors.unusableKey(name, type));
                }));
    }

    /** The value of the lock key; null if it is not there or no string. */
    CompletionStage<@Nullable String> value(String name) {
        return nullable(connections.commands().get(name))
                .exceptionallyCompose(error -> typeAfter(name, error).thenCompose(type -> switch (type) {
                    case "string", "none" ->
                        changedSince(error, CompletableFuture.<@Nullable String>completedFuture(null));
                    default -> CompletableFuture.<@Nullable String>completedFuture(null);
                }));
    }

    @SuppressWarnings("NullAway") // the driver answers null where there is no key, and does not say so
    private static CompletionStage<@Nullable String> nullable(CompletionStage<String> value) {
        return value.thenApply(text -> (@Nullable String) text);
    }

    /** The answer of a command on strings, or this one if the key is of another type: then no id of this mode holds it. */
    <T> CompletionStage<T> notHeldOr(String name, CompletionStage<T> answer, T notHeld) {
        return answer.exceptionallyCompose(error -> typeAfter(name, error).thenCompose(type -> switch (type) {
            case "string", "none" -> changedSince(error, CompletableFuture.completedFuture(notHeld));
            default -> CompletableFuture.completedFuture(notHeld);
        }));
    }

    /**
     * Deletes the lock in a key for any holder; fails if the key is not, or not only, a lock. What is deleted is what was
     * looked at: a string by comparison, of a hash the fields.
     *
     * @param channel where to tell of it, if the comparison can
     */
    CompletionStage<Deletion> delete(String name, ConditionalDelete strings, String channel) {
        return delete(name, strings, channel, TRIES);
    }

    private CompletionStage<Deletion> delete(String name, ConditionalDelete strings, String channel, int triesLeft) {
        return connections.commands().type(name).thenCompose(type -> switch (type) {
            case "none" -> CompletableFuture.completedFuture(Deletion.NONE);
            case "string" ->
                deleteString(name, strings, channel).thenCompose(deletion -> {
                    if (deletion.done()) {
                        return CompletableFuture.completedFuture(deletion);
                    }
                    return triesLeft > 1
                            ? delete(name, strings, channel, triesLeft - 1)
                            : CompletableFuture.failedFuture(RedisErrors.keepsChanging(name));
                });
            case "hash" -> notHeldOr(name, deleteHash(name), Deletion.NONE);
            default -> CompletableFuture.failedFuture(errors.notDeleted(name, Holders.ofType(type)));
        });
    }

    /** Completes with {@link Deletion#NONE} if the key has changed since its type was asked for. */
    private CompletionStage<Deletion> deleteString(String name, ConditionalDelete strings, String channel) {
        CompletionStage<@Nullable String> value = value(name);
        CompletionStage<Long> remaining = connections.commands().pttl(name);
        return value.thenCombine(remaining, (found, left) -> {
                    if (found == null || left == -2) {
                        return CompletableFuture.completedFuture(Deletion.NONE);
                    }
                    if (left < 0 && !Holders.isOurs(CommandsHold.holder(found))) {
                        return CompletableFuture.<Deletion>failedFuture(
                                errors.notDeleted(name, Holders.inString(found, false)));
                    }
                    return notHeldOr(name, strings.delete(name, found, channel), Deletion.NONE);
                })
                .thenCompose(deletion -> deletion);
    }

    private CompletionStage<Deletion> deleteHash(String name) {
        return hashOf(name).thenCompose(fields -> {
            if (fields != null && fields.isEmpty()) {
                return CompletableFuture.completedFuture(Deletion.NONE);
            }
            if (fields == null
                    || fields.keySet().stream().noneMatch(Holders::isHold)
                    || !fields.keySet().stream().allMatch(Holders::isLocks)) {
                return CompletableFuture.failedFuture(errors.notDeleted(name, Holders.ofType("hash")));
            }
            return connections
                    .commands()
                    .hdel(name, fields.keySet().toArray(String[]::new))
                    .thenApply(deleted -> new Deletion(deleted > 0, Deletion.NOT_TOLD));
        });
    }

    /** The fields of a hash; null if they are more than a lock has. */
    private CompletionStage<@Nullable Map<String, String>> hashOf(String name) {
        return connections
                .commands()
                .hlen(name)
                .thenCompose(fields -> fields > Holders.FIELDS_MAX
                        ? CompletableFuture.<@Nullable Map<String, String>>completedFuture(null)
                        : connections.commands().hgetall(name).thenApply(all -> (@Nullable Map<String, String>) all));
    }

    /** @param channel where those who wait listen; null if nobody can */
    CompletionStage<StoreState> inspect(String name, CommandsTokens tokens, boolean streams, @Nullable String channel) {
        CompletionStage<Integer> waiting = channel == null ? CompletableFuture.completedFuture(0) : listeners(channel);
        CompletionStage<Long> remaining = connections.commands().pttl(name);
        CompletionStage<List<StreamMessage<String, String>>> last =
                streams ? tokens.last(name) : CompletableFuture.completedFuture(List.of());
        CompletionStage<String> value = connections.commands().get(name);
        return value.handle((text, error) -> error == null ? string(text, remaining, last) : noString(name, error))
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
            @Nullable String value,
            CompletionStage<Long> remaining,
            CompletionStage<List<StreamMessage<String, String>>> last) {
        if (value == null) {
            return CompletableFuture.completedFuture(null);
        }
        return remaining.thenCombine(last, (left, entries) -> {
            String holder = Holders.inString(value, left >= 0);
            return new StoreState(holder, 0, CommandsTokens.baseOf(entries, holder), 0);
        });
    }

    private CompletionStage<@Nullable StoreState> noString(String name, Throwable error) {
        return typeAfter(name, error).thenCompose(type -> switch (type) {
            case "hash" ->
                hash(name)
                        .exceptionallyCompose(since ->
                                changedSince(since, CompletableFuture.<@Nullable StoreState>completedFuture(null)));
            case "string", "none" -> changedSince(error, CompletableFuture.<@Nullable StoreState>completedFuture(null));
            default ->
                CompletableFuture.<@Nullable StoreState>completedFuture(new StoreState(Holders.ofType(type), 0, 0, 0));
        });
    }

    private CompletionStage<@Nullable StoreState> hash(String name) {
        return hashOf(name).thenApply(ForeignKeys::holderIn);
    }

    private static @Nullable StoreState holderIn(@Nullable Map<String, String> fields) {
        if (fields != null && fields.isEmpty()) {
            return null;
        }
        for (Map.Entry<String, String> field :
                fields == null ? Set.<Map.Entry<String, String>>of() : fields.entrySet()) {
            if (Holders.isHold(field.getKey())) {
                boolean ours =
                        Holders.isOurs(field.getKey()) && field.getValue().matches("b\\d{1,18}");
                return new StoreState(
                        field.getKey(),
                        0,
                        ours ? Long.parseLong(field.getValue().substring(1)) : 0,
                        0);
            }
        }
        return new StoreState(Holders.ofType("hash"), 0, 0, 0);
    }

    /** How many clients wait, by the channel on which they listen for the release; 0 if that is not known. */
    CompletionStage<Integer> listeners(String channel) {
        return connections.commands().pubsubNumsub(channel).handle((counts, error) -> {
            Long count = error == null ? counts.get(channel) : null;
            return count == null ? 0 : count.intValue();
        });
    }

    /** The type of a key on which a command was refused; fails with the refusal if it was something else. */
    private CompletionStage<String> typeAfter(String name, Throwable error) {
        return RedisErrors.unwrap(error) instanceof RedisCommandExecutionException
                ? connections.commands().type(name)
                : CompletableFuture.failedFuture(error);
    }

    /** The answer after a refusal on a key whose type has changed since, if the type was why. */
    private static <T extends @Nullable Object> CompletableFuture<T> changedSince(
            Throwable error, CompletableFuture<T> answer) {
        Throwable cause = RedisErrors.unwrap(error);
        String said = cause == null ? "" : String.valueOf(cause.getMessage());
        // The second is what Redis says to DELEX.
        return said.startsWith("WRONGTYPE ") || said.startsWith("ERR Key should be of string type")
                ? answer
                : CompletableFuture.failedFuture(error);
    }
}
