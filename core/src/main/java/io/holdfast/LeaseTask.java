package io.holdfast;

/**
 * Work done under a lease.
 *
 * @param <E> what it may throw; inferred as {@link RuntimeException} where nothing checked is thrown
 */
@FunctionalInterface
public interface LeaseTask<E extends Exception> {
    void run(Lease lease) throws E;
}
