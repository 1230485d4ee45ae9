package io.holdfast;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.Lock;

/**
 * A lock name as a {@link Lock} that threads own: strict and reentrant.
 *
 * <p>Ownership is per client and thread: two lock objects for one name of the same client are the same lock. A nested
 * {@code lock()} costs no command. While held it is renewed, unless taken with a lease of its own; it is not renewed any
 * longer once the owner thread has died.
 *
 * <p>Methods that take the lock throw {@link LockStoreException} if the store fails, {@link LockClientClosedException}
 * if the client is closed, and, unless they say otherwise, {@link LeaseLostException} never: that comes from
 * {@link #unlock()}.
 */
public interface DistributedLock extends Lock {

    /** The lock name. */
    String name();

    /** Takes the lock, waiting as long as needed. An interrupt does not end the wait; the flag is set on return. */
    @Override
    void lock();

    /**
     * As {@link #lock()}, with a lease that ends after this time whatever happens (also at the store), and is not
     * renewed. A nested call keeps the lease there is.
     */
    void lock(long lease, TimeUnit unit);

    @Override
    void lockInterruptibly() throws InterruptedException;

    /** Takes the lock if it is free now; one command at most. */
    @Override
    boolean tryLock();

    /** @return false if the wait time passed. A wait of zero or less means one attempt. */
    @Override
    boolean tryLock(long wait, TimeUnit unit) throws InterruptedException;

    /** As {@link #tryLock(long, TimeUnit)}, with a lease as in {@link #lock(long, TimeUnit)}. */
    boolean tryLock(long wait, long lease, TimeUnit unit) throws InterruptedException;

    /**
     * Gives back one hold; the last one releases.
     *
     * @throws IllegalMonitorStateException if the calling thread does not hold the lock
     * @throws LeaseLostException if it held the lock and lost it: the work done was not protected to its end
     */
    @Override
    void unlock();

    /** @throws UnsupportedOperationException always: a condition needs a queue that outlives the lock */
    @Override
    Condition newCondition();

    /** Whether anybody holds the name, as the store knows it at this moment. One command. */
    boolean isLocked();

    /** Whether the calling thread holds the lock and its lease is valid. Local. */
    boolean isHeldByCurrentThread();

    /** How many times the calling thread has taken the lock and not yet given it back; 0 if it does not hold. Local. */
    int getHoldCount();

    /** How long the calling thread's hold is certainly valid if no renewal succeeds; zero if it does not hold. Local. */
    Duration remaining();

    /**
     * The fencing token of the calling thread's hold.
     *
     * @throws IllegalMonitorStateException if the calling thread does not hold the lock
     */
    long fencingToken();

    /**
     * Ends whatever hold there is on the name, here or elsewhere, without asking its owner. A hold of this client is lost when
     * this returns true, also that of the calling thread: its {@link #unlock} throws {@link LeaseLostException}. An owner
     * elsewhere finds out within a third of a lease.
     *
     * @return true if there was one
     */
    boolean forceUnlock();
}
