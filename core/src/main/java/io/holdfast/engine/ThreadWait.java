package io.holdfast.engine;

/** A thread that waits for a lock now. */
public record ThreadWait(String name, Thread thread, long threadId, long waitedNanos) {}
