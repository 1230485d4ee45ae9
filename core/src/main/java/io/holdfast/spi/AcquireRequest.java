package io.holdfast.spi;

/**
 * An attempt to take a name.
 *
 * <pre>{@code
 * store.acquire(AcquireRequest.once("order:42", HolderId.of(clientId, 1), 30_000));
 * }</pre>
 *
 * @param name the lock name
 * @param holderId unique for this acquisition; the same for every repetition of it
 * @param leaseMillis how long the hold lasts from the execution on, if this command grants it
 * @param queue whether to wait in the store's queue while the name is held; an attempt without the queue leaves nothing
 *     behind when it fails
 * @param pollMillis the longest time after which a waiting client repeats the request; the store treats an entry as
 *     dead that was not repeated for three such intervals
 * @param repetition how often this holder id was sent before. A store that queues keeps the number with the entry and
 *     returns it in {@link PushedGrant}
 */
public record AcquireRequest(
        String name, String holderId, long leaseMillis, boolean queue, long pollMillis, long repetition) {

    /** Returns a request that fails while the name is held, and leaves nothing behind. */
    public static AcquireRequest once(String name, String holderId, long leaseMillis) {
        return new AcquireRequest(name, holderId, leaseMillis, false, 0, 0);
    }

    /** Returns the first request of a holder id that waits in the store's queue while the name is held. */
    public static AcquireRequest queueing(String name, String holderId, long leaseMillis, long pollMillis) {
        return new AcquireRequest(name, holderId, leaseMillis, true, pollMillis, 0);
    }

    /** Returns this request as one that does not wait in the store's queue. */
    public AcquireRequest unqueued() {
        return new AcquireRequest(name, holderId, leaseMillis, false, pollMillis, repetition);
    }

    /** Returns this request as one of a holder id that was sent this often before. */
    public AcquireRequest repeated(long times) {
        return new AcquireRequest(name, holderId, leaseMillis, queue, pollMillis, times);
    }

    /** Returns this request for the name that another store uses. */
    public AcquireRequest named(String other) {
        return new AcquireRequest(other, holderId, leaseMillis, queue, pollMillis, repetition);
    }
}
