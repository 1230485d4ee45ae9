package io.holdfast;

import io.holdfast.spi.StoreException;
import java.time.Duration;

/**
 * Receives a client's lock events, for metrics and logs.
 *
 * <p>The client calls it on its callback executor, some time after the event and, for one lease, not necessarily in
 * order. The client logs an exception and otherwise ignores it: the next listener still receives the event.
 *
 * <pre>{@code
 * LockClient locks = LockClient.builder()
 *         .uri("redis://127.0.0.1:6379")
 *         .listener(new LockListener() {
 *             @Override
 *             public void lost(String name, long fencingToken, Duration held, String why) {
 *                 alerts.send(name + " was lost: " + why);
 *             }
 *         })
 *         .build();
 * }</pre>
 */
public interface LockListener {

    /** The ways in which a wait ends without a lease. */
    enum Outcome {
        /** Others held the lock for all of the wait time. */
        TIMED_OUT,

        /** The caller was interrupted, or cancelled its stage. */
        WITHDRAWN,

        /** The store failed, or the client was closed. */
        FAILED
    }

    /** Called when a lease was handed out after this wait. */
    default void acquired(String name, long fencingToken, Duration waited) {}

    /** Called when a wait ended without a lease: timed out, interrupted, cancelled or failed. */
    default void notAcquired(String name, Duration waited, Outcome how, String why) {}

    /**
     * Called after {@link #acquired} when the lease was handed from one caller of this client to the next, without a
     * command to the store. Also called for a reader that shares the hold of another reader of this client.
     */
    default void handedOn(String name, long fencingToken) {}

    /** Called when the owner released a lease after holding it for this time. */
    default void released(String name, long fencingToken, Duration held) {}

    /** Called when a lease was lost after it had been held for this time. */
    default void lost(String name, long fencingToken, Duration held, String why) {}

    /** Called when a renewal failed; the client tries again while the hold lasts. */
    default void renewalFailed(String name, Throwable cause) {}

    /**
     * Called when renewals that were sent together have been answered.
     *
     * @param locks how many locks they were for
     * @param failed how many of these renewals the store failed to execute; each is also a {@link #renewalFailed}
     * @param took the time from the first command to the last answer
     */
    default void renewed(int locks, int failed, Duration took) {}

    /**
     * Called when the store failed to execute a command. The client tries again where that can help, so not each of
     * these failures reaches a caller.
     *
     * @param name the lock name, or one of them if the command is for several
     * @param command {@code acquire}, {@code renew}, {@code release}, {@code abandon}, {@code inspect}, {@code
     *     force_release}, {@code find_record}, {@code keep_record}, {@code health} or {@code diagnose}
     */
    default void storeFailed(String name, String command, StoreException cause) {}

    /** Called when a connection to the store was lost and is back. */
    default void reconnected() {}

    /**
     * Called when the wall clock got ahead of the monotonic clock by this time, as after a suspension of the machine.
     * The client then checks every lease at once.
     */
    default void clockJumped(Duration by) {}

    /** Called when a candidate of this client for a {@link Leadership} has begun to campaign, once for each candidate. */
    default void candidacyBegan(String leadership) {}

    /** Called when a candidate of this client was elected. Its lock {@code leader:NAME} is also {@link #acquired}. */
    default void elected(String leadership, long fencingToken) {}

    /**
     * Called after {@link #elected} when the term's lock is being released, or was lost.
     *
     * @param led how long the term lasted, with the time that the {@link LeadershipListener} took to stop
     * @param stoppedInTime false if the {@link LeadershipListener} has not stopped within {@link
     *     LeadershipOptions#stopWithin}, so that another process may lead while it still works
     */
    default void termEnded(String leadership, long fencingToken, Duration led, boolean stoppedInTime) {}
}
