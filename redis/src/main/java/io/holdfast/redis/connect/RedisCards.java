package io.holdfast.redis.connect;

import io.holdfast.redis.server.RedisErrors;
import io.holdfast.redis.server.RedisKeys;
import io.holdfast.redis.server.ServerClock;
import io.holdfast.spi.CardStore;
import io.holdfast.spi.StoredCard;
import io.lettuce.core.Range;
import io.lettuce.core.ScoredValue;
import io.lettuce.core.SetArgs;
import io.lettuce.core.cluster.api.async.RedisClusterAsyncCommands;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Keeps the cards of clients in Redis, by plain commands in every mode. Each card has its own key, in a cluster spread
 * by the client's id; its value is {@code <written> <keep>}, both in milliseconds, a line feed and the text. One sorted
 * set finds the cards: it has the client ids by the time at which their card ends. A client that writes a card removes
 * the ids of ended cards from the set, so no client ever scans the keys of a server.
 */
public final class RedisCards implements CardStore {

    private static final long INDEX_KEPT_MILLIS = Duration.ofDays(1).toMillis();

    private final RedisConnections connections;
    private final RedisErrors errors;
    private final RedisKeys keys;
    private final String clientId;

    public RedisCards(RedisConnections connections, RedisErrors errors, RedisKeys keys, String clientId) {
        this.connections = connections;
        this.errors = errors;
        this.keys = keys;
        this.clientId = clientId;
    }

    @Override
    public CompletionStage<Integer> write(String text, Duration keep) {
        return told(() -> time().thenCompose(now -> {
            long millis = keep.toMillis();
            var writing = connections
                    .commands()
                    .set(keys.card(clientId), now + " " + millis + "\n" + text, SetArgs.Builder.px(millis));
            return index(now, millis).thenCombine(writing, (clients, ok) -> clients);
        }));
    }

    @Override
    public CompletionStage<Boolean> keep(Duration keep) {
        return told(() -> time().thenCompose(now -> {
            var keeping = connections.commands().pexpire(keys.card(clientId), keep.toMillis());
            return index(now, keep.toMillis()).thenCombine(keeping, (clients, there) -> there);
        }));
    }

    /** Records until when the card exists. Returns the number of cards. */
    private CompletionStage<Integer> index(long now, long keepMillis) {
        RedisClusterAsyncCommands<String, String> commands = connections.commands();
        String index = keys.cards();
        var adding = commands.zadd(index, (double) (now + keepMillis), clientId);
        var trimming = commands.zremrangebyscore(index, Range.create(0L, now));
        var expiring = commands.pexpire(index, INDEX_KEPT_MILLIS);
        var counting = commands.zcard(index);
        return adding.thenCombine(trimming, (added, trimmed) -> added)
                .thenCombine(expiring, (added, expires) -> added)
                .thenCombine(counting, (added, clients) -> clients.intValue());
    }

    @Override
    public CompletionStage<List<StoredCard>> read() {
        return told(() -> time().thenCompose(now -> connections
                .commands()
                .zrevrangeWithScores(keys.cards(), 0, -1)
                .thenCompose(clients -> all(clients, now))));
    }

    private CompletionStage<List<StoredCard>> all(List<ScoredValue<String>> clients, long now) {
        List<CompletableFuture<Optional<StoredCard>>> reading = new ArrayList<>(clients.size());
        for (ScoredValue<String> client : clients) {
            reading.add(connections
                    .commands()
                    .get(keys.card(client.getValue()))
                    .thenApply(value -> card(client.getValue(), value, client.getScore(), now))
                    .toCompletableFuture());
        }
        return CompletableFuture.allOf(reading.toArray(CompletableFuture[]::new))
                .thenApply(done -> reading.stream()
                        .map(CompletableFuture::join)
                        .flatMap(Optional::stream)
                        .toList());
    }

    @Override
    public CompletionStage<Optional<StoredCard>> read(String client) {
        return told(() -> time().thenCompose(now -> {
            var ends = connections.commands().zscore(keys.cards(), client);
            return connections
                    .commands()
                    .get(keys.card(client))
                    .thenCombine(ends, (value, end) -> card(client, value, end, now));
        }));
    }

    /** Returns nothing for a client without a card, and for a value that no client of Holdfast wrote. */
    private static Optional<StoredCard> card(String client, @Nullable String value, @Nullable Double ends, long now) {
        if (value == null || ends == null) {
            return Optional.empty();
        }
        int line = value.indexOf('\n');
        int blank = value.indexOf(' ');
        if (blank < 0 || line < blank) {
            return Optional.empty();
        }
        try {
            long written = Long.parseLong(value, 0, blank, 10);
            long keep = Long.parseLong(value, blank + 1, line, 10);
            return Optional.of(new StoredCard(
                    client,
                    value.substring(line + 1),
                    Duration.ofMillis(Math.max(0, now - written)),
                    Duration.ofMillis(Math.max(0, now - (ends.longValue() - keep)))));
        } catch (NumberFormatException e) {
            return Optional.empty();
        }
    }

    @Override
    public CompletionStage<Void> remove() {
        return told(() -> {
            var removing = connections.commands().zrem(keys.cards(), clientId);
            return connections.commands().del(keys.card(clientId)).thenCombine(removing, (deleted, removed) -> null);
        });
    }

    /**
     * Returns the server's time in milliseconds; in a cluster that of the same server for all clients, if it is there.
     */
    private CompletionStage<Long> time() {
        List<RedisClusterAsyncCommands<String, String>> servers = connections.servers();
        return (servers.isEmpty() ? connections.commands() : servers.get(0))
                .time()
                .thenApply(ServerClock::millis);
    }

    private <T> CompletionStage<T> told(Supplier<CompletionStage<T>> command) {
        return errors.told(StageGuard.begin(command));
    }
}
