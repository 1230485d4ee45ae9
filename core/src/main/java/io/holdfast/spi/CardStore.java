package io.holdfast.spi;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletionStage;

/**
 * Keeps the cards of a store's clients: one text for each client, which says who it is, and what it holds and waits
 * for. Cards are for people. Anybody who may write the store can forge them, so nothing is decided by a card.
 *
 * <p>The client id is that of {@link StoreContext}. All methods are thread-safe, return at once, and report errors
 * through the returned stage.
 *
 * <pre>{@code
 * cards.write(text, Duration.ofMinutes(1))
 *         .thenAccept(clients -> log.info("{} clients have a card", clients));
 * }</pre>
 */
public interface CardStore {

    /** The longest text of a card, in characters. */
    int TEXT_MAX = 32_768;

    /**
     * Keeps a text as this client's card, in place of the one before.
     *
     * @param text at most {@link #TEXT_MAX} characters
     * @param keep how long the card stays if it is not written or kept again
     * @return about how many clients have a card now
     */
    CompletionStage<Integer> write(String text, Duration keep);

    /**
     * Keeps this client's card as it is for longer.
     *
     * @param keep how long it stays from now on; as for the last {@link #write}
     * @return false if there is no such card any more
     */
    CompletionStage<Boolean> keep(Duration keep);

    /** Returns the cards of all clients. */
    CompletionStage<List<StoredCard>> read();

    /** Returns the card of one client. */
    CompletionStage<Optional<StoredCard>> read(String clientId);

    /** Removes this client's card. */
    CompletionStage<Void> remove();
}
