package io.holdfast.memory;

import io.holdfast.spi.CardStore;
import io.holdfast.spi.StoredCard;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletionStage;

/** The cards of the clients of one {@link MemoryLockStore.Server}, as one client sees them. */
record MemoryCards(MemoryLockStore.Server server, String clientId) implements CardStore {

    record Card(String text, long writtenNanos, long heardNanos, long untilNanos) {}

    @Override
    public CompletionStage<Integer> write(String text, Duration keep) {
        return server.onCards(cards -> {
            long now = server.nanoTime();
            cards.put(clientId, new Card(text, now, now, now + keep.toNanos()));
            return cards.size();
        });
    }

    @Override
    public CompletionStage<Boolean> keep(Duration keep) {
        return server.onCards(cards -> {
            long now = server.nanoTime();
            return cards.computeIfPresent(
                            clientId,
                            (id, card) -> new Card(card.text(), card.writtenNanos(), now, now + keep.toNanos()))
                    != null;
        });
    }

    @Override
    public CompletionStage<List<StoredCard>> read() {
        return server.onCards(cards -> cards.entrySet().stream()
                .map(entry -> seen(entry.getKey(), entry.getValue()))
                .toList());
    }

    @Override
    public CompletionStage<Optional<StoredCard>> read(String client) {
        return server.onCards(cards -> Optional.ofNullable(cards.get(client)).map(card -> seen(client, card)));
    }

    private StoredCard seen(String client, Card card) {
        long now = server.nanoTime();
        return new StoredCard(
                client,
                card.text(),
                Duration.ofNanos(now - card.writtenNanos()),
                Duration.ofNanos(now - card.heardNanos()));
    }

    @Override
    public CompletionStage<Void> remove() {
        return server.onCards(cards -> cards.remove(clientId) != null).thenAccept(was -> {});
    }
}
