package io.holdfast.spi;

import java.time.Duration;

/**
 * A card as a store keeps it. All ages are by the store's clock.
 *
 * <pre>{@code
 * cards.read("hf-a")
 *         .thenAccept(found -> found.ifPresent(card -> log.info("heard of {} ago", card.heard())));
 * }</pre>
 *
 * @param clientId the id of the client that wrote it, if nobody forged it
 * @param text what was written
 * @param written how long ago that was
 * @param heard how long ago the client last wrote or kept the card; negative ages do not occur
 */
public record StoredCard(String clientId, String text, Duration written, Duration heard) {}
