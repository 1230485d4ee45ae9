package io.holdfast.engine;

import io.holdfast.spi.AcquireRequest;

/**
 * What is asked of a pool: some of its permits.
 *
 * @param weight how many permits, from 1 to the limit
 * @param limit how many permits there are, as this caller says
 */
public record PoolRequest(String name, int weight, int limit) {

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

    /** Returns this request with another weight. */
    public PoolRequest weighing(int other) {
        return new PoolRequest(name, other, limit);
    }

    /** Names the permits in a message. */
    @Override
    public String toString() {
        return "permits of " + Quoted.name(name) + " (limit " + limit + ", weight " + weight + ")";
    }
}
