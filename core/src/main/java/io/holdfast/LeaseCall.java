package io.holdfast;

import org.jspecify.annotations.Nullable;

/**
 * Work done under a lease that has a result.
 *
 * @param <T> the result
 * @param <E> what it may throw; inferred as {@link RuntimeException} where nothing checked is thrown
 */
@FunctionalInterface
public interface LeaseCall<T extends @Nullable Object, E extends Exception> {
    T call(Lease lease) throws E;
}
