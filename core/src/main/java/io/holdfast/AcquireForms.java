package io.holdfast;

import static java.util.Objects.requireNonNull;

import io.holdfast.engine.Engine;
import io.holdfast.engine.MultiAcquisition;
import io.holdfast.engine.PoolRequest;
import io.holdfast.engine.Waiter;
import java.time.Duration;
import java.util.Collection;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;

/** The methods of {@link LockClient} that hand out leases: of one name and of several, with a thread and without. */
abstract sealed class AcquireForms permits TaskForms {

    /** Returns the engine that is open now, or was the last. */
    abstract Engine engine();

    /**
     * Acquires the lock. Waits for at most {@link LockOptions#waitAtMost}, or as long as needed without that option.
     * Not reentrant: a thread that holds a lease on the name waits for itself; {@link LockClient#getLock} is reentrant.
     *
     * @throws IllegalStateException if the thread would wait for itself without end, as far as that is known: it holds
     *     the name by {@link LockClient#getLock}, or with {@link LockOptions#releasedByThread}
     * @throws DeadlockException if threads of this process would wait for each other without end
     * @throws LockTimeoutException if the wait time passed
     * @throws LockStoreException if the store failed
     * @throws InterruptedException if the thread was interrupted while it waited; nothing is left behind
     */
    @CheckReturnValue
    public Lease acquire(String name, LockOptions options) throws InterruptedException {
        Waiter.ensureNotInterrupted();
        return submit(name, options, Waiter.Mode.PATIENT).await();
    }

    /** Acquires the lock as {@link #tryAcquire(String)} does, with options that have no wait time. */
    final Optional<Lease> tryOnce(String name, LockOptions options) {
        return submit(name, options, Waiter.Mode.TRY).awaitUninterruptibly();
    }

    /**
     * Acquires the lock if that is possible within {@link LockOptions#waitAtMost}; without that option, if the lock is
     * free now.
     *
     * @return empty if others held the lock for all of that time
     * @throws LockStoreException if the store failed, or answered nothing during the whole wait
     * @throws InterruptedException if the thread was interrupted while it waited; nothing is left behind
     */
    @CheckReturnValue
    public Optional<Lease> tryAcquire(String name, LockOptions options) throws InterruptedException {
        Waiter.ensureNotInterrupted();
        return submit(name, options, Waiter.Mode.TRY).awaitOptional();
    }

    private Waiter submit(String name, LockOptions options, Waiter.Mode mode) {
        return requireNonNull(options, "options").isForTask()
                ? engine().submitTask(name, options, mode)
                : engine().submit(name, options, mode);
    }

    /**
     * Acquires the lock without a thread that waits. The stage completes on the client's callback executor, with the
     * exceptions of {@link #acquire(String, LockOptions)}. Cancelling its {@code toCompletableFuture()}, or completing
     * it in another way ({@code orTimeout}), withdraws the wait.
     */
    @CheckReturnValue
    public CompletionStage<Lease> acquireAsync(String name, LockOptions options) {
        return staged(
                () -> engine().submitAsync(name, options, Waiter.Mode.PATIENT).stage());
    }

    /** Acquires the lock as {@link #tryAcquire(String, LockOptions)} does, without a thread that waits. */
    @CheckReturnValue
    public CompletionStage<Optional<Lease>> tryAcquireAsync(String name, LockOptions options) {
        return staged(() -> engine().submitAsync(name, options, Waiter.Mode.TRY).optionalStage());
    }

    /**
     * Acquires several locks together, all or none. Takes each distinct name once, in the order of the names, so that
     * two callers with the same names in another order cannot block each other. {@link LockOptions#waitAtMost} limits
     * the wait for all of them together. A caller that holds some of the names already, or takes others later, is
     * outside that order.
     *
     * <p>The length of {@link LockOptions#leaseFor} counts for each lease from its own grant. If one lease ends while
     * the acquisition waits for another, all are released and the acquisition begins again, until the wait time has
     * passed.
     *
     * @throws LockTimeoutException if the wait time passed
     * @throws LockStoreException if the store failed
     * @throws InterruptedException if the thread was interrupted while it waited; nothing is left behind
     * @throws IllegalArgumentException if there is no name, or a bad one
     */
    @CheckReturnValue
    public MultiLease acquireAll(Collection<String> names, LockOptions options) throws InterruptedException {
        return new MultiAcquisition(engine(), names, options, Waiter.Mode.PATIENT).await();
    }

    /**
     * Acquires several locks as {@link #acquireAll} does, if that is possible within {@link LockOptions#waitAtMost};
     * without that option, if all are free now.
     *
     * @return empty if they were not free together
     * @throws LockStoreException if the store failed, or answered nothing during the whole wait
     */
    @CheckReturnValue
    public Optional<MultiLease> tryAcquireAll(Collection<String> names, LockOptions options)
            throws InterruptedException {
        return new MultiAcquisition(engine(), names, options, Waiter.Mode.TRY).awaitOptional();
    }

    /**
     * Acquires several locks as {@link #acquireAll} does, without a thread that waits. Cancelling the stage's {@code
     * toCompletableFuture()}, or completing it in another way, withdraws the wait and releases the leases held so far.
     */
    @CheckReturnValue
    public CompletionStage<MultiLease> acquireAllAsync(Collection<String> names, LockOptions options) {
        return new MultiAcquisition(engine(), names, options, Waiter.Mode.PATIENT).stage();
    }

    /**
     * Acquires several locks as {@link #tryAcquireAll(Collection, LockOptions)} does, without a thread that waits. To
     * end the stage from outside has the same effect as in {@link #acquireAllAsync(Collection, LockOptions)}.
     */
    @CheckReturnValue
    public CompletionStage<Optional<MultiLease>> tryAcquireAllAsync(Collection<String> names, LockOptions options) {
        return new MultiAcquisition(engine(), names, options, Waiter.Mode.TRY).optionalStage();
    }

    // --- without options, or with a wait alone ---

    /** Acquires the lock and waits as long as needed: {@link #acquire(String, LockOptions)} with the defaults. */
    @CheckReturnValue
    public Lease acquire(String name) throws InterruptedException {
        return acquire(name, LockOptions.defaults());
    }

    /**
     * Acquires the lock and waits for at most this time; zero means one attempt.
     *
     * @throws LockTimeoutException if the wait time passed
     * @throws IllegalArgumentException if the wait is negative or longer than 100 years
     */
    @CheckReturnValue
    public Lease acquire(String name, Duration wait) throws InterruptedException {
        return acquire(name, LockOptions.defaults().waitAtMost(wait));
    }

    /**
     * Acquires the lock if it is free now. Sends one command, and a second one soon after it if the lock is held
     * without expiry. Waits for the answer even when interrupted.
     *
     * @throws LockStoreException if the store failed
     */
    @CheckReturnValue
    public Optional<Lease> tryAcquire(String name) {
        return tryOnce(name, LockOptions.defaults());
    }

    /**
     * Acquires the lock if that is possible within this time; zero means one attempt.
     *
     * @return empty if others held the lock for all of that time
     * @throws LockStoreException if the store failed, or answered nothing during the whole wait
     * @throws IllegalArgumentException if the wait is negative or longer than 100 years
     */
    @CheckReturnValue
    public Optional<Lease> tryAcquire(String name, Duration wait) throws InterruptedException {
        return tryAcquire(name, LockOptions.defaults().waitAtMost(wait));
    }

    /** Acquires the lock without a thread that waits: {@link #acquireAsync(String, LockOptions)} with the defaults. */
    @CheckReturnValue
    public CompletionStage<Lease> acquireAsync(String name) {
        return acquireAsync(name, LockOptions.defaults());
    }

    /** Acquires the lock as {@link #acquire(String, Duration)} does, without a thread that waits. */
    @CheckReturnValue
    public CompletionStage<Lease> acquireAsync(String name, Duration wait) {
        return acquireAsync(name, LockOptions.defaults().waitAtMost(wait));
    }

    /** Acquires the lock as {@link #tryAcquire(String)} does, without a thread that waits. */
    @CheckReturnValue
    public CompletionStage<Optional<Lease>> tryAcquireAsync(String name) {
        return tryAcquireAsync(name, LockOptions.defaults());
    }

    /** Acquires the lock as {@link #tryAcquire(String, Duration)} does, without a thread that waits. */
    @CheckReturnValue
    public CompletionStage<Optional<Lease>> tryAcquireAsync(String name, Duration wait) {
        return tryAcquireAsync(name, LockOptions.defaults().waitAtMost(wait));
    }

    /** Acquires several locks together and waits as long as needed, with the default options. */
    @CheckReturnValue
    public MultiLease acquireAll(Collection<String> names) throws InterruptedException {
        return acquireAll(names, LockOptions.defaults());
    }

    /**
     * Acquires several locks together and waits for at most this time for all of them; zero means one attempt.
     *
     * @throws LockTimeoutException if the wait time passed
     * @throws IllegalArgumentException if the wait is negative or longer than 100 years
     */
    @CheckReturnValue
    public MultiLease acquireAll(Collection<String> names, Duration wait) throws InterruptedException {
        return acquireAll(names, LockOptions.defaults().waitAtMost(wait));
    }

    /** Acquires several locks together if all are free now, with the default options. */
    @CheckReturnValue
    public Optional<MultiLease> tryAcquireAll(Collection<String> names) throws InterruptedException {
        return tryAcquireAll(names, LockOptions.defaults());
    }

    /**
     * Acquires several locks together if that is possible within this time; zero means one attempt.
     *
     * @return empty if they were not free together
     * @throws IllegalArgumentException if the wait is negative or longer than 100 years
     */
    @CheckReturnValue
    public Optional<MultiLease> tryAcquireAll(Collection<String> names, Duration wait) throws InterruptedException {
        return tryAcquireAll(names, LockOptions.defaults().waitAtMost(wait));
    }

    /** Acquires several locks together without a thread that waits, with the default options. */
    @CheckReturnValue
    public CompletionStage<MultiLease> acquireAllAsync(Collection<String> names) {
        return acquireAllAsync(names, LockOptions.defaults());
    }

    /** Acquires several locks as {@link #acquireAll(Collection, Duration)} does, without a thread that waits. */
    @CheckReturnValue
    public CompletionStage<MultiLease> acquireAllAsync(Collection<String> names, Duration wait) {
        return acquireAllAsync(names, LockOptions.defaults().waitAtMost(wait));
    }

    /** Acquires several locks as {@link #tryAcquireAll(Collection)} does, without a thread that waits. */
    @CheckReturnValue
    public CompletionStage<Optional<MultiLease>> tryAcquireAllAsync(Collection<String> names) {
        return tryAcquireAllAsync(names, LockOptions.defaults());
    }

    /** Acquires several locks as {@link #tryAcquireAll(Collection, Duration)} does, without a thread that waits. */
    @CheckReturnValue
    public CompletionStage<Optional<MultiLease>> tryAcquireAllAsync(Collection<String> names, Duration wait) {
        return tryAcquireAllAsync(names, LockOptions.defaults().waitAtMost(wait));
    }

    // --- for permits, readers and writers ---

    static Waiter submit(Engine engine, PoolRequest wanted, LockOptions options, Waiter.Mode mode) {
        boolean isForTask = requireNonNull(options, "options").isForTask();
        return engine.pools().submit(wanted, options, mode, isForTask);
    }

    static CompletionStage<Lease> patient(Engine engine, PoolRequest wanted, LockOptions options) {
        return staged(() ->
                engine.pools().submitAsync(wanted, options, Waiter.Mode.PATIENT).stage());
    }

    static CompletionStage<Optional<Lease>> trying(Engine engine, PoolRequest wanted, LockOptions options) {
        return staged(() ->
                engine.pools().submitAsync(wanted, options, Waiter.Mode.TRY).optionalStage());
    }

    /**
     * Returns the form's stage. A closed client fails the stage instead of throwing, because the caller made no
     * mistake.
     */
    private static <T> CompletionStage<T> staged(Supplier<CompletionStage<T>> form) {
        try {
            return form.get();
        } catch (LockClientClosedException e) {
            return CompletableFuture.failedFuture(e);
        }
    }
}
