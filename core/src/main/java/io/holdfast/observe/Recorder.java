package io.holdfast.observe;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * The Java Flight Recorder as the engine sees it. This interface names no class of the module {@code jdk.jfr}, so the
 * engine runs where that module is absent: there, {@link #INSTANCE} records nothing.
 *
 * <p>Each method first asks whether its event is recorded now. If not, it allocates nothing and returns.
 */
public interface Recorder {

    Recorder INSTANCE = find();

    /** An event that has begun and is not recorded yet. */
    interface Acquire {

        /** Sets the holder that the waiter waits for, as far as this client knows it. */
        void setHolder(@Nullable String holder);

        /** Sets the outcome; {@code fencingToken} is zero without a lease. */
        void setOutcome(String client, String name, String outcome, long fencingToken);

        /** Records the event as one of the calling thread, if it has an outcome and took long enough. */
        void record();
    }

    /** A lease whose event has begun. */
    interface Hold {

        /** Records the event, if it took long enough. */
        void record(boolean lost);
    }

    /** Returns whether waits are recorded now. */
    default boolean recordsAcquires() {
        return false;
    }

    /** Returns null if waits are not recorded. */
    default @Nullable Acquire beginAcquire() {
        return null;
    }

    /** Returns null if leases are not recorded. */
    default @Nullable Hold beginHold(String client, String name, long fencingToken, @Nullable Thread acquiredBy) {
        return null;
    }

    /** Records the loss of a lease. */
    default void recordLoss(String client, String name, long fencingToken, Duration held, String why) {}

    /** Records that a lease was handed to the next waiter of this client, without a command to the store. */
    default void recordHandOff(String client, String name, long fencingToken, long waitedNanos, int waiting) {}

    /** Records the answer to renewals that were sent together. */
    default void recordRenewals(String client, int locks, int failed, Duration took) {}

    /** Records a command that the store failed to execute; {@code name} is one of the names of the command. */
    default void recordStoreFailure(String client, String command, String name, String outcome, String message) {}

    /** Records that the store's connection was lost and is back. */
    default void recordReconnect(String client, String store) {}

    /** Records that the wall clock got ahead of the monotonic clock. */
    default void recordClockJump(String client, Duration by) {}

    private static Recorder find() {
        try {
            return new FlightRecording();
        } catch (LinkageError absent) {
            // A runtime image without jdk.jfr, or an application as modules of which none requires it.
            return new Recorder() {};
        }
    }
}
