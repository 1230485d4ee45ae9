package io.holdfast.spi;

/**
 * An attempt to take a name.
 *
 * @param name the lock name
 * @param holderId unique for this acquisition; the same for every repetition of it
 * @param leaseMillis how long the hold lasts from its execution on, if it is granted by this command
 * @param queue whether to wait in the store's queue when the name is held; an attempt without it leaves nothing behind
 *     when it fails
 * @param pollMillis the longest time after which the client sends this again while it waits; an entry that was not
 *     repeated for three such intervals is taken for dead
 * @param repetition how often this holder id asked before. A store that queues keeps it with the entry, and gives it back
 *     in {@link PushedGrant}
 */
public record AcquireRequest(
        String name, String holderId, long leaseMillis, boolean queue, long pollMillis, long repetition) {

    /** The first asking of a holder id. */
    public AcquireRequest(String name, String holderId, long leaseMillis, boolean queue, long pollMillis) {
        this(name, holderId, leaseMillis, queue, pollMillis, 0);
    }
}
