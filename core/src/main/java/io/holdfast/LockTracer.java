package io.holdfast;

import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Follows acquisitions for a tracing system, and gives the client's card the trace in which a lock is held. So the
 * trace of a caller that waited can lead to the trace of the holder, also in another process. The module {@code
 * holdfast-opentelemetry} has one for OpenTelemetry.
 *
 * <pre>{@code
 * LockClient locks = LockClient.builder()
 *         .uri("redis://127.0.0.1:6379")
 *         .tracer(new HoldfastTracing(openTelemetry))
 *         .build();
 * }</pre>
 *
 * <p>Implementations must be thread-safe. The client logs an exception of one and continues without it.
 */
public interface LockTracer {

    /**
     * Called when a caller begins to acquire a lock, on the caller's thread, for each acquisition. Must not block.
     *
     * @return the observer of this acquisition, or null to skip it
     */
    @Nullable
    Acquisition begin(String name);

    /** Returns the shortest wait that {@link Acquisition#ended} is called for: 5 ms unless overridden. */
    default Duration shortestWait() {
        return Duration.ofMillis(5);
    }

    /** One acquisition. */
    interface Acquisition {

        /**
         * Returns the trace of the caller in the form of the W3C's header {@code traceparent}, for example {@code
         * 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01}. The client's card has it while the lock is held.
         * Any other text counts as null: no trace. Called once, directly after {@link #begin}.
         */
        @Nullable
        String traceParent();

        /**
         * Called once after a wait that was not too short, on the callback executor. While a caller waits for another
         * client, this client reads that client's card, at most once a second, unless it has {@link CardDetail#OFF}.
         */
        void ended(Wait wait);
    }

    /**
     * A wait that has ended.
     *
     * @param name the lock name
     * @param began when the caller asked, on this machine's wall clock
     * @param waited from the beginning to the outcome
     * @param failure how it ended without a lease; empty if it ended with one
     * @param fencingToken the token of the lease; zero without one
     * @param holder who held the lock when the store or this client last looked, for people; empty if nobody did
     * @param holderTraceParent the trace in which that holder acquired it, if its card has that. Data of another
     *     client: of the right form, and no proof of anything
     */
    record Wait(
            String name,
            Instant began,
            Duration waited,
            Optional<LockListener.Outcome> failure,
            long fencingToken,
            Optional<String> holder,
            Optional<String> holderTraceParent) {}
}
