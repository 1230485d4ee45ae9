package io.holdfast.spring;

import io.holdfast.Lease;
import io.holdfast.LeaseCall;
import io.holdfast.LeaseTask;
import io.holdfast.LockClient;
import io.holdfast.LockOptions;
import java.time.Duration;
import java.util.Collection;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Runs code under locks as a method with {@link Locked} runs, and by {@link #withPermits} under permits as a method
 * with {@link Limited} runs; {@link #withMode} is for readers and writers. {@link LockedConfiguration} makes a bean of
 * this type.
 *
 * <pre>{@code
 * long token = locks.execute("order:refund:" + orderId, lease -> refunds.execute(orderId, lease.fencingToken()));
 * }</pre>
 *
 * <p>Each method does what {@link Locked} does:
 *
 * <ul>
 *   <li>When the calling thread is in a transaction, the lock is released after the end of that transaction, and a lost
 *       lease rolls it back. {@link LockClient#run} releases the lock before the commit.
 *   <li>It is reentrant: the calling thread may run under the lock already, by a locked method or by a template on the
 *       same client. Then the work runs at once, under the lease of the outer call.
 *   <li>It waits for {@link LockedDefaults#waitTime} if the options have no wait time. For a wait without limit, use
 *       {@code waitAtMost(Duration.ofDays(36_500))}.
 *   <li>It is an observation {@code holdfast.locked}.
 * </ul>
 *
 * <p>Each method throws, besides what the work throws:
 *
 * <ul>
 *   <li>{@link io.holdfast.LockTimeoutException} if others held a lock for the whole wait time; the work has not run
 *   <li>{@link io.holdfast.LeaseLostException} if a lease was lost: after the work, or before it in a nested call
 *   <li>{@link java.util.concurrent.CancellationException} if the thread was interrupted during the wait; the flag of
 *       the thread is set
 *   <li>{@link io.holdfast.LockStoreException} if the store fails
 * </ul>
 *
 * <p>Thread-safe.
 */
public interface LockTemplate {

    /** Work under several leases that returns a result. */
    @FunctionalInterface
    interface AllCall<T extends @Nullable Object, E extends Exception> {

        /**
         * Does the work.
         *
         * @param leases by lock name, in the order of the names
         */
        T call(Map<String, Lease> leases) throws E;
    }

    /** Runs the work under the lock, with the default options, and returns its result. */
    default <T extends @Nullable Object, E extends Exception> T execute(String name, LeaseCall<T, E> work) throws E {
        return execute(name, LockOptions.defaults(), work);
    }

    /** Runs the work under the lock and returns its result. */
    <T extends @Nullable Object, E extends Exception> T execute(String name, LockOptions options, LeaseCall<T, E> work)
            throws E;

    /** Runs the work under the lock, with the default options. */
    default <E extends Exception> void executeWithoutResult(String name, LeaseTask<E> work) throws E {
        executeWithoutResult(name, LockOptions.defaults(), work);
    }

    /** Runs the work under the lock. */
    <E extends Exception> void executeWithoutResult(String name, LockOptions options, LeaseTask<E> work) throws E;

    /**
     * Runs the work under the lock if the lock is free now, or the calling thread runs under it.
     *
     * @return whether the work ran
     */
    default <E extends Exception> boolean tryExecute(String name, LeaseTask<E> work) throws E {
        return tryExecute(name, Duration.ZERO, work);
    }

    /**
     * Runs the work under the lock if that is possible within this time.
     *
     * @return whether the work ran
     * @throws IllegalArgumentException if the wait is negative or longer than 100 years
     */
    <E extends Exception> boolean tryExecute(String name, Duration wait, LeaseTask<E> work) throws E;

    /**
     * Runs the work under all of the locks, with the default options, and returns its result. The locks are acquired
     * together, sorted, all or none.
     *
     * @throws IllegalArgumentException if there are no names
     */
    default <T extends @Nullable Object, E extends Exception> T executeAll(Collection<String> names, AllCall<T, E> work)
            throws E {
        return executeAll(names, LockOptions.defaults(), work);
    }

    /** Runs the work as {@link #executeAll(Collection, AllCall)} does, with options. */
    <T extends @Nullable Object, E extends Exception> T executeAll(
            Collection<String> names, LockOptions options, AllCall<T, E> work) throws E;

    /** Returns a template with the same settings on another client. */
    LockTemplate withClient(LockClient client);

    /** Returns a template whose work takes one permit: {@link #withPermits(int, int)} with the weight 1. */
    default LockTemplate withPermits(int limit) {
        return withPermits(limit, 1);
    }

    /**
     * Returns a template with the same settings, whose names are those of {@link LockClient#permits permits} and not of
     * locks. At most so many permits of a name are held at a time, over all clients of the store.
     *
     * <pre>{@code
     * locks.withPermits(5).executeWithoutResult("export", permit -> export(report));
     * }</pre>
     *
     * <p>Its {@link #executeAll} throws {@link IllegalArgumentException} for more than one name.
     *
     * @param weight how many permits the work takes, together
     * @throws IllegalArgumentException if the limit is below 1 or above 1,048,576, or the weight is below 1 or above the
     *     limit
     */
    LockTemplate withPermits(int limit, int weight);

    /**
     * Returns a template with the same settings, whose names are those of {@linkplain LockClient#getReadWriteLock
     * read-write locks}, of which the work takes one half; or those of locks, for {@link LockMode#EXCLUSIVE}.
     *
     * <pre>{@code
     * locks.withMode(LockMode.READ).executeWithoutResult("catalog", lease -> show(prices));
     * }</pre>
     *
     * <p>Work that writes may read in a nested call. Work that reads may not write in one, since it would wait for itself:
     * that throws {@link IllegalStateException}. Except for {@link LockMode#EXCLUSIVE}, its {@link #executeAll} throws
     * {@link IllegalArgumentException} for more than one name.
     */
    LockTemplate withMode(LockMode mode);
}
