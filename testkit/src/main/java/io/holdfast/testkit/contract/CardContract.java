package io.holdfast.testkit.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.holdfast.spi.CardStore;
import io.holdfast.spi.StoredCard;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** The part of the contract on the cards of clients. Skipped if the store keeps none. */
abstract class CardContract extends AcquireAllContract {

    private static final Duration KEEP = Duration.ofMinutes(5);

    @Test
    void aCardIsReadByOtherClients() {
        CardStore cards = cards(a);
        int clients = StoreClient.get(cards.write("one\nß\u0007\t\ud83d\udd12", KEEP));
        assertThat(clients).isPositive();
        StoredCard card = StoreClient.get(cards(b).read(a.id)).orElseThrow();
        assertThat(card.clientId()).isEqualTo(a.id);
        assertThat(card.text()).isEqualTo("one\nß\u0007\t\ud83d\udd12");
        assertThat(card.written()).isBetween(Duration.ZERO, Duration.ofSeconds(30));
        assertThat(card.heard()).isBetween(Duration.ZERO, Duration.ofSeconds(30));
        assertThat(ids(b)).contains(a.id).doesNotContain(b.id);
        StoreClient.get(cards.remove());
    }

    @Test
    void aLaterCardReplacesIt() {
        CardStore cards = cards(a);
        StoreClient.get(cards.write("one", KEEP));
        StoreClient.get(cards.write("two", KEEP));
        assertThat(StoreClient.get(cards(b).read(a.id)).map(StoredCard::text)).contains("two");
        assertThat(ids(b)).containsOnlyOnce(a.id);
        StoreClient.get(cards.remove());
    }

    @Test
    void aRemovedCardIsGone() {
        CardStore cards = cards(a);
        StoreClient.get(cards.write("one", KEEP));
        StoreClient.get(cards.remove());
        assertThat(StoreClient.get(cards(b).read(a.id))).isEmpty();
        assertThat(ids(b)).doesNotContain(a.id);
        assertThat(StoreClient.get(cards.keep(KEEP))).isFalse();
        StoreClient.get(cards.remove());
    }

    @Test
    void aCardThatIsKeptSaysWhenItWasWritten() {
        CardStore cards = cards(a);
        StoreClient.get(cards.write("one", KEEP));
        elapse(Duration.ofMillis(1_500));
        assertThat(StoreClient.get(cards.keep(KEEP))).isTrue();
        StoredCard card = StoreClient.get(cards(b).read(a.id)).orElseThrow();
        assertThat(card.text()).isEqualTo("one");
        assertThat(card.written()).isGreaterThanOrEqualTo(Duration.ofSeconds(1));
        assertThat(card.heard()).isLessThan(card.written());
        StoreClient.get(cards.remove());
    }

    @Test
    void anotherClientHasNone() {
        cards(a);
        assertThat(StoreClient.get(cards(b).read("hf-nobody"))).isEmpty();
    }

    private static CardStore cards(StoreClient client) {
        Optional<CardStore> cards = client.store().cards();
        assumeTrue(cards.isPresent(), "the store keeps no cards");
        return cards.orElseThrow();
    }

    private static List<String> ids(StoreClient client) {
        return StoreClient.get(cards(client).read()).stream()
                .map(StoredCard::clientId)
                .toList();
    }
}
