package io.holdfast.quorum;

import io.holdfast.spi.CardStore;
import io.holdfast.spi.StoredCard;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;

/**
 * The cards of clients at the members of a quorum. Every member has a copy of a card, and the newest copy counts. Cards
 * are for people, so there is no vote: a command succeeds if one member has executed it.
 */
final class QuorumCards implements CardStore {

    private final List<Seat> seats;

    QuorumCards(List<Seat> seats) {
        this.seats = seats;
    }

    @Override
    public CompletionStage<Integer> write(String text, Duration keep) {
        return each(cards -> cards.write(text, keep))
                .thenApply(clients -> clients.stream().max(Integer::compare).orElse(1));
    }

    /** Returns true if every member that answered still has the card; otherwise it is written again. */
    @Override
    public CompletionStage<Boolean> keep(Duration keep) {
        return each(cards -> cards.keep(keep)).thenApply(kept -> !kept.contains(false));
    }

    @Override
    public CompletionStage<List<StoredCard>> read() {
        return each(CardStore::read).thenApply(read -> {
            Map<String, StoredCard> newest = new HashMap<>();
            read.forEach(cards -> cards.forEach(card -> newest.merge(card.clientId(), card, QuorumCards::newer)));
            return List.copyOf(newest.values());
        });
    }

    @Override
    public CompletionStage<Optional<StoredCard>> read(String clientId) {
        return each(cards -> cards.read(clientId))
                .thenApply(read -> read.stream().flatMap(Optional::stream).reduce(QuorumCards::newer));
    }

    @Override
    public CompletionStage<Void> remove() {
        // The results are of no type that a list may have.
        return each(cards -> cards.remove().thenApply(done -> true)).thenAccept(all -> {});
    }

    private static StoredCard newer(StoredCard one, StoredCard other) {
        return one.heard().compareTo(other.heard()) <= 0 ? one : other;
    }

    /**
     * Asks all members that are connected. Returns the answers when all have answered or failed; fails if none
     * answered.
     */
    private <T> CompletionStage<List<T>> each(Function<CardStore, CompletionStage<T>> command) {
        List<CompletableFuture<T>> asked = new ArrayList<>();
        for (Seat seat : seats) {
            QuorumMember member = seat.member();
            if (member != null) {
                member.cards().ifPresent(cards -> asked.add(command.apply(cards).toCompletableFuture()));
            }
        }
        return CompletableFuture.allOf(asked.toArray(CompletableFuture[]::new)).handle((done, error) -> {
            List<T> answers = new ArrayList<>();
            for (CompletableFuture<T> one : asked) {
                if (!one.isCompletedExceptionally()) {
                    answers.add(one.join());
                }
            }
            if (answers.isEmpty() && !asked.isEmpty()) {
                asked.get(0).join();
            }
            return answers;
        });
    }
}
