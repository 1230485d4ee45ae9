package io.holdfast.engine;

import io.holdfast.DistributedReadWriteLock;
import io.holdfast.Permits;
import io.holdfast.log.Quoted;
import io.holdfast.spi.AcquireRequest;

/**
 * What is asked of a pool: some of its permits, or a share of a read-write lock.
 *
 * @param weight how much of the limit it takes, from 1 to the limit
 * @param limit how many permits there are, as this caller says
 */
public record PoolRequest(Kind kind, String name, int weight, int limit) {

    /** What a pool is to its users. Two kinds of one name are two pools, except for readers and writers. */
    public enum Kind {
        PERMITS("p:", Permits.SHOWN_PREFIX),
        READ("rw:", DistributedReadWriteLock.READ_PREFIX),
        WRITE("rw:", DistributedReadWriteLock.WRITE_PREFIX);

        /** Begins the name of the pool at the store. */
        private final String prefix;

        /** Stands before the name where observers see it. */
        private final String shown;

        Kind(String prefix, String shown) {
            this.prefix = prefix;
            this.shown = shown;
        }
    }

    /** @throws IllegalArgumentException if the name is refused, the limit is out of range or the weight is */
    public PoolRequest {
        Limits.checkName(name);
        if (limit < 1 || limit > AcquireRequest.CAPACITY_MAX) {
            throw new IllegalArgumentException("limit of the permits " + Quoted.name(name) + ": " + limit
                    + " (expected: from 1 to " + AcquireRequest.CAPACITY_MAX + ")");
        }
        if (weight < 1 || weight > limit) {
            throw new IllegalArgumentException("weight: " + weight + " of the permits " + Quoted.name(name)
                    + " (expected: from 1 to their limit, " + limit + ")");
        }
    }

    /**
     * Returns a request for one permit.
     *
     * @throws IllegalArgumentException if the name is refused, or the limit is out of range
     */
    public static PoolRequest permit(String name, int limit) {
        return new PoolRequest(Kind.PERMITS, name, 1, limit);
    }

    /**
     * Returns a request of a reader.
     *
     * @throws IllegalArgumentException if the name is refused
     */
    public static PoolRequest reading(String name) {
        return new PoolRequest(Kind.READ, name, 1, AcquireRequest.CAPACITY_MAX);
    }

    /**
     * Returns a request of a writer.
     *
     * @throws IllegalArgumentException if the name is refused
     */
    public static PoolRequest writing(String name) {
        return new PoolRequest(Kind.WRITE, name, AcquireRequest.CAPACITY_MAX, AcquireRequest.CAPACITY_MAX);
    }

    /** Returns this request with another weight. */
    public PoolRequest weighing(int other) {
        return new PoolRequest(kind, name, other, limit);
    }

    /** Returns the name among the store's pools. */
    String storedName() {
        return kind.prefix + name;
    }

    /** Returns the name as observers see it. */
    String shownName() {
        return kind.shown + name;
    }

    /** Returns the name of a pool as observers see it when they hear of the pool alone. */
    static String shown(String storedName) {
        return isOfPermits(storedName)
                ? Kind.PERMITS.shown + userName(storedName)
                : DistributedReadWriteLock.SHOWN_PREFIX + userName(storedName);
    }

    /** Names a hold on a pool, in the middle of a sentence. */
    static String describedHold(String storedName) {
        return (isOfPermits(storedName) ? "a permit of " : "a hold on the read-write lock ")
                + Quoted.name(userName(storedName));
    }

    private static boolean isOfPermits(String storedName) {
        return storedName.startsWith(Kind.PERMITS.prefix);
    }

    private static String userName(String storedName) {
        return storedName.substring(storedName.indexOf(':') + 1);
    }

    /** Names what is asked for in a message. */
    @Override
    public String toString() {
        return switch (kind) {
            case PERMITS -> "permits of " + Quoted.name(name) + " (limit " + limit + ", weight " + weight + ")";
            case READ -> "read lock " + Quoted.name(name);
            case WRITE -> "write lock " + Quoted.name(name);
        };
    }
}
