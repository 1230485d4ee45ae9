package io.holdfast.spi;

import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletionStage;

/**
 * Keeps the records of work that is done once: one text for a lock name, written by the holder of the lock, for a time.
 *
 * <pre>{@code
 * records.keep("payment:17", holderId, text, Duration.ofDays(7))
 *         .thenAccept(kept -> log.info(kept ? "done" : "the lock was lost, so nothing was written"));
 * }</pre>
 *
 * <p>All methods are thread-safe, return at once, and report errors through the returned stage. A record is as durable as
 * a hold of the store that was granted without waiting for replicas.
 */
public interface RecordStore {

    /** Returns the record of a name; empty if there is none, or its time has passed. */
    CompletionStage<Optional<String>> find(String name);

    /**
     * Keeps a text as the record of a name if the holder id holds the lock of that name. Comparison and write are one
     * step of the store. A command that is executed again later, when the hold has ended, changes nothing.
     *
     * @param keepFor how long the record stays from now on, at least 1 ms
     * @return whether the name has this record now; false: the id does not hold the lock, and nothing was written
     */
    CompletionStage<Boolean> keep(String name, String holderId, String text, Duration keepFor);
}
