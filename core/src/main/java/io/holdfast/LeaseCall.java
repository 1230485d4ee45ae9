package io.holdfast;

import org.jspecify.annotations.Nullable;

/**
 * Work under a lease that returns a result.
 *
 * <pre>{@code
 * String order = locks.callChecked("order:42", LockOptions.defaults().waitAtMost(ofSeconds(10)), lease -> {
 *     lease.ensureValid();
 *     return Files.readString(file);      // callChecked throws what the work throws, here an IOException
 * });
 * }</pre>
 *
 * @param <T> the result
 * @param <E> the checked exception; inferred as {@link RuntimeException} where the work throws none
 */
@FunctionalInterface
public interface LeaseCall<T extends @Nullable Object, E extends Exception> {
    /** Does the work and returns its result; the lock is released when this method returns or throws. */
    T call(Lease lease) throws E;
}
