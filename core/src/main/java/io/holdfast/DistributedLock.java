package io.holdfast;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.Lock;

/**
 * A lock name as a {@link Lock} that threads own: strict and reentrant.
 *
 * <pre>{@code
 * DistributedLock lock = locks.getLock("inventory");
 * lock.lock();
 * try {
 *     stock.decrement();
 * } finally {
 *     lock.unlock();
 * }
 * }</pre>
 *
 * <p>Ownership is per client and thread: two lock objects for one name of the same client are the same lock. A nested
 * {@code lock()} costs no command. The client renews the lock while it is held, unless it was taken with a length of
 * its own. Renewal ends when the owner thread has died.
 *
 * <p>Methods that take the lock throw {@link LockStoreException} if the store fails, and {@link
 * LockClientClosedException} if the client is closed. They throw {@link IllegalStateException} if the thread waits
 * without limit for a lease of its own with {@link LockOptions#releasedByThread}. They throw {@link DeadlockException}
 * if two threads of this process would wait for each other forever. Only {@link #unlock()} and {@link #extend} throw
 * {@link LeaseLostException}. Thread-safe.
 */
public interface DistributedLock extends Lock {

    /** Returns the lock name. */
    String name();

    /** Takes the lock, waiting as long as needed. An interrupt does not end the wait; the flag is set on return. */
    @Override
    void lock();

    /**
     * Takes the lock as {@link #lock()} does, with a lease that is not renewed and ends after this time, in this client
     * and at the store. A nested call keeps the lease that the thread has.
     *
     * @throws IllegalArgumentException if the lease is shorter than 100 milliseconds or longer than 365 days
     */
    void lock(long lease, TimeUnit unit);

    /** Takes the lock, waiting as long as needed. An interrupt ends the wait and leaves nothing behind. */
    @Override
    void lockInterruptibly() throws InterruptedException;

    /**
     * Takes the lock if it is free now. Costs one command at most, or two if the lock is held without expiry. Waits for
     * the answer even when interrupted.
     */
    @Override
    boolean tryLock();

    /**
     * Takes the lock if that is possible within this time; zero or less means one attempt. An interrupt ends the wait
     * and leaves nothing behind.
     *
     * @return false if the wait time passed
     */
    @Override
    boolean tryLock(long wait, TimeUnit unit) throws InterruptedException;

    /** Takes the lock as {@link #tryLock(long, TimeUnit)} does, with a lease as in {@link #lock(long, TimeUnit)}. */
    boolean tryLock(long wait, long lease, TimeUnit unit) throws InterruptedException;

    /**
     * Undoes one {@code lock()} of the calling thread; the last one releases the lock, as {@link Lease#release()} does.
     *
     * @throws IllegalMonitorStateException if the calling thread does not hold the lock
     * @throws LeaseLostException if the thread held the lock and lost it: its work was not protected to the end
     */
    @Override
    void unlock();

    /** @throws UnsupportedOperationException always: a condition needs a queue that outlives the lock */
    @Override
    Condition newCondition();

    /**
     * Returns whether the name has a holder, as the store knows it now. Costs one command.
     *
     * @throws LockStoreException if the store failed
     */
    boolean isLocked();

    /** Returns whether the calling thread holds the lock and its lease is valid. Costs no command. */
    boolean isHeldByCurrentThread();

    /**
     * Returns how many times the calling thread has taken the lock without an unlock; 0 if the thread does not hold the
     * lock, or has lost it. Costs no command.
     */
    int getHoldCount();

    /**
     * Returns how long the calling thread's lease stays valid if no further renewal succeeds; zero if the thread does
     * not hold the lock. Costs no command.
     */
    Duration remaining();

    /**
     * Gives the calling thread's lease this time from now on, as {@link Lease#extend} does.
     *
     * @throws IllegalMonitorStateException if the calling thread does not hold the lock, or has lost it
     * @throws LeaseLostException if the lease is lost during this call
     * @throws LockStoreException if the store did not confirm the new time
     * @throws IllegalArgumentException if shorter than 100 milliseconds or longer than 365 days
     */
    void extend(Duration time);

    /**
     * Returns the fencing token of the calling thread's lease.
     *
     * @throws IllegalMonitorStateException if the calling thread does not hold the lock
     */
    long fencingToken();

    /**
     * Ends the hold on the name, in this client or elsewhere, without asking its owner. When this method returns true,
     * a lease of this client is lost, even that of the calling thread: its {@link #unlock} throws {@link
     * LeaseLostException}. An owner elsewhere notices within a third of a lease.
     *
     * @return true if there was a hold
     * @throws LockStoreException if the store failed, or if the key is not, or not only, a lock
     */
    boolean forceUnlock();
}
