package io.holdfast;

import org.jspecify.annotations.Nullable;

/**
 * Work under a lease that returns a result.
 *
 * @param <T> the result
 * @param <E> the checked exception; inferred as {@link RuntimeException} where the work throws none
 */
@FunctionalInterface
public interface LeaseCall<T extends @Nullable Object, E extends Exception> {
    T call(Lease lease) throws E;
}
