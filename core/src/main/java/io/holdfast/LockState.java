package io.holdfast;

import java.time.Duration;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * What the store knew of a name. It is old when it is read: good for people and tools, not for decisions.
 *
 * @param name the lock name
 * @param holder what holds it, as the store shows it; empty if it is free
 * @param remaining how long the hold lasts if it is not renewed; zero if the name is free; empty if the key has no expiry, which no
 *     lock of a compatible library lacks
 * @param fencingToken the smallest token of the present hold, if the store knows it
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
