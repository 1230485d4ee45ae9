package io.holdfast.console;

import io.holdfast.ClientCard;
import java.time.Duration;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * The client that holds a lock.
 *
 * @param id the holder id, as the store knows it
 * @param title the client in words, from its card if there is one; a foreign holder as what it is
 * @param card the client's card
 * @param fencingToken the token of the present lease, or the smallest of the hold if only the store knows one
 * @param heldFor how long the present lease has been held; empty if no card says so
 * @param endsIn when the hold ends if it is not renewed; empty if that is unknown (a renewed lease that nobody asked
 *     the store about), or if the key has no expiry, see {@link Flag#NO_EXPIRY}
 * @param isRenewed whether the holder renews the lease for as long as it holds it; false if that is unknown
 * @param thread the thread that holds the lock, if the client tells
 * @param traceId the id of the trace in which the lock was acquired, if the client tells
 * @see <a href="https://github.com/holdfast-lock/holdfast/blob/main/docs/command-line.md#inspect-who-holds-a-lock">
 *     inspect: who holds a lock?</a>
 */
public record Holder(
        String id,
        String title,
        Optional<ClientCard> card,
        OptionalLong fencingToken,
        Optional<Duration> heldFor,
        Optional<Duration> endsIn,
        boolean isRenewed,
        Optional<String> thread,
        Optional<String> traceId) {}
