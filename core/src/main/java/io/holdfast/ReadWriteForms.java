package io.holdfast;

import io.holdfast.engine.PoolRequest;
import io.holdfast.engine.Waiter;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletionStage;

/**
 * The methods of {@link LockClient} that hand out leases of a read-write lock: for a reader and for a writer, with a
 * thread and without. {@link DistributedReadWriteLock} says what the two exclude.
 */
abstract sealed class ReadWriteForms extends TaskForms permits LockClient {

    // --- for a reader ---

    /** Acquires for a reader, and waits as long as needed: {@link #acquireRead(String, LockOptions)} with the defaults. */
    @CheckReturnValue
    public Lease acquireRead(String name) throws InterruptedException {
        return acquireRead(name, LockOptions.defaults());
    }

    /**
     * Acquires for a reader, and waits for at most this time; zero means one attempt.
     *
     * @throws LockTimeoutException if the wait time passed
     */
    @CheckReturnValue
    public Lease acquireRead(String name, Duration wait) throws InterruptedException {
        return acquireRead(name, LockOptions.defaults().waitAtMost(wait));
    }

    /**
     * Acquires a share of the read-write lock for a reader. Waits for at most {@link LockOptions#waitAtMost}, or as long
     * as needed without that option. Waits while there is a writer, and behind each writer that came before.
     *
     * <p>Not reentrant: a thread that has a share, and asks for a second one behind a writer that waits for the first,
     * waits for itself. {@link LockClient#getReadWriteLock} is reentrant. {@link Lease#isExclusive} is false, so the
     * token of a reader fences nothing.
     *
     * <p>Readers of one client share a hold, and lose it together. {@link Lease#extend} extends it for all of them, and it
     * stays for as long as the last of {@link Lease#releaseHoldingAtLeast} says. A reader with {@link
     * LockOptions#leaseFor} or {@link LockOptions#holdAtMost} has a hold of its own.
     *
     * @throws IllegalStateException if the thread would wait for itself without end, as far as that is known: it has
     *     the write lock by {@link LockClient#getReadWriteLock}, or with {@link LockOptions#releasedByThread}
     * @throws LockTimeoutException if the wait time passed
     * @throws LockStoreException if the store failed, or has no read-write locks
     * @throws InterruptedException if the thread was interrupted while it waited; nothing is left behind
     */
    @CheckReturnValue
    public Lease acquireRead(String name, LockOptions options) throws InterruptedException {
        Waiter.ensureNotInterrupted();
        return submit(engine(), PoolRequest.reading(name), options, Waiter.Mode.PATIENT)
                .await();
    }

    /**
     * Acquires for a reader if that is possible now, which it is not while others wait. Sends one command, and waits for
     * the answer even when interrupted.
     *
     * @throws LockStoreException if the store failed, or has no read-write locks
     */
    @CheckReturnValue
    public Optional<Lease> tryAcquireRead(String name) {
        return submit(engine(), PoolRequest.reading(name), LockOptions.defaults(), Waiter.Mode.TRY)
                .awaitUninterruptibly();
    }

    /** Acquires for a reader as {@link #tryAcquireRead(String, LockOptions)} does, within this time. */
    @CheckReturnValue
    public Optional<Lease> tryAcquireRead(String name, Duration wait) throws InterruptedException {
        return tryAcquireRead(name, LockOptions.defaults().waitAtMost(wait));
    }

    /**
     * Acquires for a reader if that is possible within {@link LockOptions#waitAtMost}; without that option, if it is
     * possible now.
     *
     * @return empty if others were in the way for all of that time
     * @throws LockStoreException if the store failed, has no read-write locks, or answered nothing during the whole wait
     * @throws InterruptedException if the thread was interrupted while it waited; nothing is left behind
     */
    @CheckReturnValue
    public Optional<Lease> tryAcquireRead(String name, LockOptions options) throws InterruptedException {
        Waiter.ensureNotInterrupted();
        return submit(engine(), PoolRequest.reading(name), options, Waiter.Mode.TRY)
                .awaitOptional();
    }

    /** Acquires as {@link #acquireRead(String)} does, without a thread that waits. */
    @CheckReturnValue
    public CompletionStage<Lease> acquireReadAsync(String name) {
        return acquireReadAsync(name, LockOptions.defaults());
    }

    /** Acquires as {@link #acquireRead(String, Duration)} does, without a thread that waits. */
    @CheckReturnValue
    public CompletionStage<Lease> acquireReadAsync(String name, Duration wait) {
        return acquireReadAsync(name, LockOptions.defaults().waitAtMost(wait));
    }

    /**
     * Acquires for a reader without a thread that waits. The stage completes as that of {@link #acquireAsync(String,
     * LockOptions)}, and its end from outside withdraws the wait.
     */
    @CheckReturnValue
    public CompletionStage<Lease> acquireReadAsync(String name, LockOptions options) {
        return patient(engine(), PoolRequest.reading(name), options);
    }

    /** Acquires as {@link #tryAcquireRead(String)} does, without a thread that waits. */
    @CheckReturnValue
    public CompletionStage<Optional<Lease>> tryAcquireReadAsync(String name) {
        return tryAcquireReadAsync(name, LockOptions.defaults());
    }

    /** Acquires as {@link #tryAcquireRead(String, Duration)} does, without a thread that waits. */
    @CheckReturnValue
    public CompletionStage<Optional<Lease>> tryAcquireReadAsync(String name, Duration wait) {
        return tryAcquireReadAsync(name, LockOptions.defaults().waitAtMost(wait));
    }

    /** Acquires as {@link #tryAcquireRead(String, LockOptions)} does, without a thread that waits. */
    @CheckReturnValue
    public CompletionStage<Optional<Lease>> tryAcquireReadAsync(String name, LockOptions options) {
        return trying(engine(), PoolRequest.reading(name), options);
    }

    // --- for a writer ---

    /**
     * Acquires for a writer, and waits as long as needed: {@link #acquireWrite(String, LockOptions)} with the defaults.
     */
    @CheckReturnValue
    public Lease acquireWrite(String name) throws InterruptedException {
        return acquireWrite(name, LockOptions.defaults());
    }

    /**
     * Acquires for a writer, and waits for at most this time; zero means one attempt.
     *
     * @throws LockTimeoutException if the wait time passed
     */
    @CheckReturnValue
    public Lease acquireWrite(String name, Duration wait) throws InterruptedException {
        return acquireWrite(name, LockOptions.defaults().waitAtMost(wait));
    }

    /**
     * Acquires the read-write lock for a writer. Waits for at most {@link LockOptions#waitAtMost}, or as long as needed
     * without that option. From its call on, no new reader comes in before it.
     *
     * <p>Not reentrant: a thread that has the lock, or a share of it, waits for itself. {@link Lease#isExclusive} is
     * true: a writer's token is larger than those of all readers and writers before it.
     *
     * @throws IllegalStateException if the thread would wait for itself without end, as far as that is known: it has
     *     a half of the lock by {@link LockClient#getReadWriteLock}, or with {@link LockOptions#releasedByThread}
     * @throws LockTimeoutException if the wait time passed
     * @throws LockStoreException if the store failed, or has no read-write locks
     * @throws InterruptedException if the thread was interrupted while it waited; nothing is left behind
     */
    @CheckReturnValue
    public Lease acquireWrite(String name, LockOptions options) throws InterruptedException {
        Waiter.ensureNotInterrupted();
        return submit(engine(), PoolRequest.writing(name), options, Waiter.Mode.PATIENT)
                .await();
    }

    /**
     * Acquires for a writer if that is possible now, which it is not while others wait. Sends one command, and waits for
     * the answer even when interrupted.
     *
     * @throws LockStoreException if the store failed, or has no read-write locks
     */
    @CheckReturnValue
    public Optional<Lease> tryAcquireWrite(String name) {
        return submit(engine(), PoolRequest.writing(name), LockOptions.defaults(), Waiter.Mode.TRY)
                .awaitUninterruptibly();
    }

    /** Acquires for a writer as {@link #tryAcquireWrite(String, LockOptions)} does, within this time. */
    @CheckReturnValue
    public Optional<Lease> tryAcquireWrite(String name, Duration wait) throws InterruptedException {
        return tryAcquireWrite(name, LockOptions.defaults().waitAtMost(wait));
    }

    /**
     * Acquires for a writer if that is possible within {@link LockOptions#waitAtMost}; without that option, if it is
     * possible now.
     *
     * @return empty if others were in the way for all of that time
     * @throws LockStoreException if the store failed, has no read-write locks, or answered nothing during the whole wait
     * @throws InterruptedException if the thread was interrupted while it waited; nothing is left behind
     */
    @CheckReturnValue
    public Optional<Lease> tryAcquireWrite(String name, LockOptions options) throws InterruptedException {
        Waiter.ensureNotInterrupted();
        return submit(engine(), PoolRequest.writing(name), options, Waiter.Mode.TRY)
                .awaitOptional();
    }

    /** Acquires as {@link #acquireWrite(String)} does, without a thread that waits. */
    @CheckReturnValue
    public CompletionStage<Lease> acquireWriteAsync(String name) {
        return acquireWriteAsync(name, LockOptions.defaults());
    }

    /** Acquires as {@link #acquireWrite(String, Duration)} does, without a thread that waits. */
    @CheckReturnValue
    public CompletionStage<Lease> acquireWriteAsync(String name, Duration wait) {
        return acquireWriteAsync(name, LockOptions.defaults().waitAtMost(wait));
    }

    /**
     * Acquires for a writer without a thread that waits. The stage completes as that of {@link #acquireAsync(String,
     * LockOptions)}, and its end from outside withdraws the wait.
     */
    @CheckReturnValue
    public CompletionStage<Lease> acquireWriteAsync(String name, LockOptions options) {
        return patient(engine(), PoolRequest.writing(name), options);
    }

    /** Acquires as {@link #tryAcquireWrite(String)} does, without a thread that waits. */
    @CheckReturnValue
    public CompletionStage<Optional<Lease>> tryAcquireWriteAsync(String name) {
        return tryAcquireWriteAsync(name, LockOptions.defaults());
    }

    /** Acquires as {@link #tryAcquireWrite(String, Duration)} does, without a thread that waits. */
    @CheckReturnValue
    public CompletionStage<Optional<Lease>> tryAcquireWriteAsync(String name, Duration wait) {
        return tryAcquireWriteAsync(name, LockOptions.defaults().waitAtMost(wait));
    }

    /** Acquires as {@link #tryAcquireWrite(String, LockOptions)} does, without a thread that waits. */
    @CheckReturnValue
    public CompletionStage<Optional<Lease>> tryAcquireWriteAsync(String name, LockOptions options) {
        return trying(engine(), PoolRequest.writing(name), options);
    }
}
