package io.holdfast;

import java.time.Duration;
import java.util.concurrent.CompletionStage;

/**
 * The right to a lock name for a bounded time. The lease is the owner, not the thread: any thread may use and release
 * it.
 *
 * <pre>{@code
 * try (Lease lease = locks.acquire("report")) {
 *     lease.onLost(Thread.currentThread()::interrupt);
 *     for (Page page : pages) {
 *         lease.ensureValid();                            // LeaseLostException if the lock was lost
 *         archive.write(page, lease.fencingToken());      // the archive refuses smaller tokens than its last
 *     }
 * }
 * }</pre>
 *
 * <p>A lease ends once, in one of two ways: it is <em>released</em>, or it is <em>lost</em> (its time passed without a
 * successful renewal, or the store reports that the hold was removed or taken). This process's clock alone decides
 * whether it is valid: until the time before the request was sent, plus its length, less a margin for clock drift. So
 * {@link #isValid()} turns false in time even when the store cannot be reached, and at the first call after a pause of
 * the process.
 *
 * <p>A lease is not reentrant: a thread that acquires a name on which it holds a lease waits for itself. Pass the lease
 * on to the code that needs it, or use {@link LockClient#getLock}, which is reentrant.
 *
 * <p>Release every lease: a lease that the program forgets stays held and renewed until its client is closed. When a
 * garbage collection finds that nothing refers to such a lease, the client logs that once; the system property {@code
 * holdfast.traceLeases=true} adds the place of the acquisition.
 *
 * <p>Thread-safe. {@code toString()} shows name, token and state.
 */
public interface Lease extends AutoCloseable {

    /** Returns the lock name. */
    String name();

    /**
     * Returns a number that grows with every lease on this name, over all clients. Pass it to the guarded resource,
     * which remembers the largest number it has seen and refuses smaller ones. Each store documents what its tokens
     * promise. The number stays the same after the lease has ended.
     */
    long fencingToken();

    /**
     * Returns the id of the hold that the lease is part of, at most 200 ASCII characters. The store never gives an id
     * twice; the leases that a client passes on to its own waiters share one. A guarded resource compares it where two
     * tokens are equal, which a store after a split brain cannot rule out.
     */
    String holderId();

    /**
     * Returns whether no other lease on the name is valid at the same time. True for a lock and for the writer of a
     * {@link DistributedReadWriteLock}, false for a reader and for {@link Permits}: their tokens tell them apart, but
     * do not say who is the only one.
     */
    default boolean isExclusive() {
        return true;
    }

    /** Returns whether the lease is held now: neither released nor lost. Costs no command. */
    boolean isValid();

    /** Returns how long the lease is certainly valid if no further renewal succeeds; zero if it is over. */
    Duration remaining();

    /**
     * Returns normally if the lease is held now.
     *
     * @throws LeaseLostException if it is lost
     * @throws IllegalStateException if it was released
     */
    void ensureValid();

    /**
     * Gives the lease this time from now on, regardless of the time left. Returns when the store has confirmed the new
     * time; an interrupt does not end the wait.
     *
     * <ul>
     *   <li>A lease of a fixed length ({@link LockOptions#leaseFor}) ends when this time has passed, here and at the
     *       store: later or sooner than before. It is still not renewed.
     *   <li>A lease with {@link LockOptions#holdAtMost} is renewed up to the new end instead of the old one.
     *   <li>Any other lease is renewed without end, before and after this call. The store keeps its hold for at least
     *       this time, even if no further renewal succeeds: for a pause or an outage that the caller expects. If this
     *       process ends in that time, the name stays locked for as long. A time that is shorter than what is left
     *       changes nothing.
     * </ul>
     *
     * <p>As for every lease, {@link #remaining()} is shorter than this time by the margin for clock drift. When two
     * threads extend one lease at once, the later call decides.
     *
     * @throws LeaseLostException if the lease is lost
     * @throws IllegalStateException if it was released
     * @throws LockStoreException if the store did not confirm the new time. The lease ends at the earlier of the old
     *     and the new end, unless it is renewed; the caller may call this method once more
     * @throws IllegalArgumentException if shorter than 100 milliseconds or longer than 365 days
     */
    void extend(Duration time);

    /**
     * Extends the lease as {@link #extend} does, without a thread that waits. The stage completes on the client's
     * callback executor, with the exceptions of {@code extend}; a bad length is thrown at once.
     */
    CompletionStage<Void> extendAsync(Duration time);

    /**
     * Registers a callback that runs on the client's callback executor when the lease is lost: at once if it is lost
     * already, never if it was released. A lease may have several callbacks; the client logs an exception of one and
     * runs the others.
     */
    void onLost(Runnable callback);

    /**
     * Ends the lease. Returns when the store has confirmed the release, or the client has passed the lock to its next
     * waiter; an interrupt does not end the wait. If the store cannot be reached, the client retries the release in the
     * background until the hold must have expired. Idempotent.
     *
     * @throws LeaseLostException if the lease was lost before: the work under it was not protected to its end
     * @throws IllegalStateException if the lease is that of a {@linkplain LockClient#run(String,
     *     java.util.function.Consumer) lambda form}, whose task runs on another thread
     */
    default void release() {
        releaseHoldingAtLeast(Duration.ZERO);
    }

    /**
     * Ends the lease, but keeps the name locked until this time has passed since the grant: for work that must not be
     * repeated sooner. No thread waits, and this process does not keep the hold alive: the store ends it at that time
     * by itself, even if this process has ended. (On a store where holds end with the client's session, the hold ends
     * with the session.) If that time has already passed, this method does the same as {@link #release()}. Idempotent.
     *
     * @throws LeaseLostException if the lease was lost before
     * @throws IllegalStateException as {@link #release()} throws it
     * @throws LockStoreException if the store did not confirm that it keeps the name locked. The lease is released
     *     nevertheless, and the client asks the store again in the background
     * @throws IllegalArgumentException if negative or longer than 100 years
     */
    void releaseHoldingAtLeast(Duration holdAtLeast);

    /**
     * Ends the lease as {@link #releaseHoldingAtLeast(Duration)} does, without a thread that waits. The stage completes
     * on the client's callback executor, with the exceptions of that method; a bad time is thrown at once.
     */
    CompletionStage<Void> releaseHoldingAtLeastAsync(Duration holdAtLeast);

    /**
     * Ends the lease as {@link #release()} does, without a thread that waits. The stage completes on the client's
     * callback executor, with {@link LeaseLostException} if the lease was lost before. Idempotent: a later call returns
     * a complete stage.
     */
    default CompletionStage<Void> releaseAsync() {
        return releaseHoldingAtLeastAsync(Duration.ZERO);
    }

    /** Does the same as {@link #release()}. */
    @Override
    default void close() {
        release();
    }
}
