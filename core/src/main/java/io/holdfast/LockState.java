package io.holdfast;

import java.time.Duration;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * What the store knew about a name. For people and tools, not for decisions: it may be out of date when it is read.
 *
 * @param name the lock name
 * @param holder the holder, as the store shows it; empty if the name is free
 * @param remaining how long the hold lasts if it is not renewed; zero if the name is free; empty if the key has no
 *     expiry, as no lock of this or a compatible library has
 * @param fencingToken the smallest token of the present hold; empty if the store does not know it
 * @param waitingClients how many clients wait in the store's queue
 */
public record LockState(
        String name,
        Optional<String> holder,
        Optional<Duration> remaining,
        OptionalLong fencingToken,
        int waitingClients) {

    /** Returns whether there was a holder. */
    public boolean isLocked() {
        return holder.isPresent();
    }
}
