package io.holdfast.bench.peer;

import java.util.concurrent.CompletionStage;

/**
 * An open client of one peer. Thread-safe; a name is unlocked by the thread that locked it, except in {@link #pair}.
 */
public interface Handle extends AutoCloseable {

    /** Takes the lock and waits as long as needed. */
    void lock(String name) throws Exception;

    /** Takes the lock if it is free now. */
    boolean tryLock(String name) throws Exception;

    void unlock(String name) throws Exception;

    /**
     * Takes and releases a free lock without a waiting thread.
     *
     * @throws UnsupportedOperationException if the peer has no asynchronous interface
     */
    default CompletionStage<?> pair(String name) {
        throw new UnsupportedOperationException(getClass().getSimpleName() + " has no asynchronous lock");
    }

    @Override
    void close();
}
