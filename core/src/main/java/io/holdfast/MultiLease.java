package io.holdfast;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;

/**
 * The leases on several names that were acquired together, all or none. Each stays a {@link Lease} of its own, with a token of
 * its own; this is valid while all of them are. Thread-safe.
 */
public interface MultiLease extends AutoCloseable {

    /** Returns one lease for each name, in the order of the names. */
    List<Lease> leases();

    /**
     * Returns the lease on one of the names.
     *
     * @throws IllegalArgumentException if it is not one of them
     */
    Lease lease(String name);

    /** Returns whether all are held now. Costs no command. */
    boolean isValid();

    /** Returns how long all are certainly valid if no further renewal succeeds; zero if one of them is over. */
    Duration remaining();

    /**
     * Returns normally if all are held now.
     *
     * @throws LeaseLostException if one of them is lost
     * @throws IllegalStateException if they were released
     */
    void ensureValid();

    /** Runs a callback for each lease that is lost, as {@link Lease#onLost} does. */
    void onLost(Consumer<? super Lease> callback);

    /**
     * Ends all of them, as {@link Lease#release()} does; the commands are sent together.
     *
     * @throws LeaseLostException if one of them was lost before; all others are released
     */
    void release();

    /** As {@link #release()}, but each name stays locked as {@link Lease#release(Duration)} says. */
    void release(Duration holdAtLeast);

    /** As {@link #release()}, without a thread that waits. */
    CompletionStage<Void> releaseAsync();

    /** As {@link #release(Duration)}, without a thread that waits. */
    CompletionStage<Void> releaseAsync(Duration holdAtLeast);

    /** The same as {@link #release()}. */
    @Override
    default void close() {
        release();
    }
}
