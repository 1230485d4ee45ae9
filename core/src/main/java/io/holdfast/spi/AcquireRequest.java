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
 * @param nonce random bits that nobody but this client and the store knows, new in each request that queues; from zero
 *     to 2<sup>62</sup> − 1. A store that queues keeps the nonce of the last request with the entry and returns it in
 *     {@link PushedGrant}: the client believes no other grant
 * @param weight how much of the capacity the hold takes, from 1 to the capacity; 1 for a lock
 * @param capacity how much the hold and all entries before it may weigh together, at most {@link #CAPACITY_MAX}; 1 for
 *     a lock. Only names of {@link LockStore#pools} have another one. Each request has its own: two clients may ask
 *     with different capacities for one name
 */
public record AcquireRequest(
        String name,
        String holderId,
        long leaseMillis,
        boolean queue,
        long pollMillis,
        long nonce,
        int weight,
        int capacity) {

    /** The largest capacity. */
    public static final int CAPACITY_MAX = 1 << 20;

    /** Makes a request for a lock. */
    public AcquireRequest(String name, String holderId, long leaseMillis, boolean queue, long pollMillis, long nonce) {
        this(name, holderId, leaseMillis, queue, pollMillis, nonce, 1, 1);
    }

    /** Returns a request that fails while the name is held, and leaves nothing behind. */
    public static AcquireRequest once(String name, String holderId, long leaseMillis) {
        return new AcquireRequest(name, holderId, leaseMillis, false, 0, 0);
    }

    /** Returns a request that waits in the store's queue while the name is held. Its nonce is zero. */
    public static AcquireRequest queueing(String name, String holderId, long leaseMillis, long pollMillis) {
        return new AcquireRequest(name, holderId, leaseMillis, true, pollMillis, 0);
    }

    /** Returns this request as one that does not wait in the store's queue. */
    public AcquireRequest unqueued() {
        return new AcquireRequest(name, holderId, leaseMillis, false, pollMillis, nonce, weight, capacity);
    }

    /** Returns this request with another nonce. */
    public AcquireRequest withNonce(long other) {
        return new AcquireRequest(name, holderId, leaseMillis, queue, pollMillis, other, weight, capacity);
    }

    /** Returns this request with another weight and capacity: for a name of {@link LockStore#pools}. */
    public AcquireRequest weighing(int otherWeight, int otherCapacity) {
        return new AcquireRequest(name, holderId, leaseMillis, queue, pollMillis, nonce, otherWeight, otherCapacity);
    }

    /** Returns whether the weight is from 1 to the capacity, and the capacity is at most this. A store refuses others. */
    public boolean isInRange(int capacityMax) {
        return weight >= 1 && weight <= capacity && capacity <= capacityMax;
    }

    /** Returns this request for the name that another store uses. */
    public AcquireRequest named(String other) {
        return new AcquireRequest(other, holderId, leaseMillis, queue, pollMillis, nonce, weight, capacity);
    }
}
