package io.holdfast.spi;

/**
 * What a store knows of the client for which it is opened.
 *
 * @param clientId the random id of the client; its holder ids begin with this and a colon
 * @param time the client's time; a store takes all time from it
 */
public record StoreContext(String clientId, TimeSource time) {}
