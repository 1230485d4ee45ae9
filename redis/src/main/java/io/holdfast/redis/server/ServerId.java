package io.holdfast.redis.server;

/** Identifies a server among those of one store: its address in a cluster, otherwise any constant text. */
public record ServerId(String text) {}
