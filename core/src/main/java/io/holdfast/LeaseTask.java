package io.holdfast;

/**
 * Work under a lease.
 *
 * <pre>{@code
 * locks.runChecked("report", LockOptions.defaults().waitAtMost(ofSeconds(10)), lease -> {
 *     lease.ensureValid();
 *     Files.writeString(file, report);      // runChecked throws what the work throws, here an IOException
 * });
 * }</pre>
 *
 * @param <E> the checked exception; inferred as {@link RuntimeException} where the work throws none
 */
@FunctionalInterface
public interface LeaseTask<E extends Exception> {
    /** Does the work; the lock is released when this method returns or throws. */
    void run(Lease lease) throws E;
}
