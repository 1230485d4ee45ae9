package io.holdfast;

/**
 * Work under a lease.
 *
 * @param <E> the checked exception; inferred as {@link RuntimeException} where the work throws none
 */
@FunctionalInterface
public interface LeaseTask<E extends Exception> {
    void run(Lease lease) throws E;
}
