package io.holdfast.spi;

/**
 * What a store knows about the client for which it is opened.
 *
 * @param clientId the random id of the client; its holder ids begin with this id and a colon
 * @param time the client's time, from which the store takes all time
 */
public record StoreContext(String clientId, TimeSource time) {}
