package io.holdfast.console;

import io.holdfast.ClientCard;
import java.time.Duration;
import java.util.Optional;

/**
 * Callers of one client that wait for a lock.
 *
 * @param client their client; it may be the holder's
 * @param waiters how many callers wait
 * @param waited how long the first of them has waited
 * @param thread the first thread that waits, if the client tells
 * @param mode what they wait to do; empty unless they wait for a read-write lock
 * @see <a href="https://github.com/holdfast-lock/holdfast/blob/main/docs/command-line.md#inspect-who-holds-a-lock">
 *     inspect: who holds a lock?</a>
 */
public record Queued(
        ClientCard client, int waiters, Duration waited, Optional<String> thread, Optional<ReadWriteInUse.Mode> mode) {

    /** Makes the waiters for a lock or for permits. */
    public Queued(ClientCard client, int waiters, Duration waited, Optional<String> thread) {
        this(client, waiters, waited, thread, Optional.empty());
    }
}
