package io.holdfast;

/** A thread that waits for a lock now. */
record ThreadWait(String name, Thread thread, long threadId, long waitedNanos) {}
