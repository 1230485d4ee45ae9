package io.holdfast;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;

/**
 * The leases on several names that were acquired together, all or none. Each is a {@link Lease} of its own with a token
 * of its own; the multi-lease is valid while all of them are. Thread-safe.
 *
 * <pre>{@code
 * try (MultiLease both = locks.acquireAll(List.of("account:1", "account:2"), LockOptions.defaults())) {
 *     transfer(both.lease("account:1").fencingToken(), both.lease("account:2").fencingToken());
 * }
 * }</pre>
 */
public interface MultiLease extends AutoCloseable {

    /** Returns one lease for each name, in the order of the names. */
    List<Lease> leases();

    /**
     * Returns the lease on one of the names.
     *
     * @throws IllegalArgumentException if the name is not one of them
     */
    Lease lease(String name);

    /** Returns whether all leases are held now. Costs no command. */
    boolean isValid();

    /** Returns how long all leases are certainly valid if no further renewal succeeds; zero if one of them is over. */
    Duration remaining();

    /**
     * Returns normally if all leases are held now.
     *
     * @throws LeaseLostException if one of them is lost
     * @throws IllegalStateException if they were released
     */
    void ensureValid();

    /**
     * Extends each lease as {@link Lease#extend} does; the commands are sent together.
     *
     * @throws LeaseLostException if one of them is lost; the others are extended
     * @throws LockStoreException if the store did not confirm the new time of one of them
     * @throws IllegalStateException if they were released
     */
    void extend(Duration time);

    /** Extends each lease as {@link #extend} does, without a thread that waits. */
    CompletionStage<Void> extendAsync(Duration time);

    /** Registers a callback for each lease that is lost, as {@link Lease#onLost} does. */
    void onLost(Consumer<? super Lease> callback);

    /**
     * Ends all leases as {@link Lease#release()} does; the commands are sent together.
     *
     * @throws LeaseLostException if one of them was lost before; all others are released
     */
    default void release() {
        releaseHoldingAtLeast(Duration.ZERO);
    }

    /** Ends all leases, but keeps each name locked as {@link Lease#releaseHoldingAtLeast(Duration)} does. */
    void releaseHoldingAtLeast(Duration holdAtLeast);

    /** Ends all leases as {@link #release()} does, without a thread that waits. */
    default CompletionStage<Void> releaseAsync() {
        return releaseHoldingAtLeastAsync(Duration.ZERO);
    }

    /** Ends all leases as {@link #releaseHoldingAtLeast(Duration)} does, without a thread that waits. */
    CompletionStage<Void> releaseHoldingAtLeastAsync(Duration holdAtLeast);

    /** Does the same as {@link #release()}. */
    @Override
    default void close() {
        release();
    }
}
