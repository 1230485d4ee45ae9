package io.holdfast;

import java.util.concurrent.locks.ReadWriteLock;

/**
 * A name as a {@link ReadWriteLock} that threads own: many readers or one writer, over all clients of the store.
 *
 * <pre>{@code
 * DistributedReadWriteLock catalog = locks.getReadWriteLock("catalog");
 * catalog.readLock().lock();
 * try {
 *     show(prices);
 * } finally {
 *     catalog.readLock().unlock();
 * }
 * }</pre>
 *
 * <p><b>Deadlocks.</b> A thread cannot upgrade: {@code lock()} of the write lock, by a thread that reads, throws {@link
 * IllegalStateException}, and {@code tryLock} returns false at once. A thread that has the write lock may read under it,
 * and keeps the writer's hold until its last read unlock. Until then nobody else reads, not even in this process: a
 * thread that downgrades and then waits for another reader waits for itself. A reader that waits for another process,
 * which itself begins to read, waits forever if a writer came in between; so wait with a limit there. Threads of one
 * client that would wait for each other get a {@link DeadlockException}, as for locks.
 *
 * <p><b>The order is strict</b> over all clients: a writer that waits stops all new readers, so it does not starve. Only
 * a thread that reads already may read once more.
 *
 * <p><b>Readers of one client share a hold</b> at the store, unless their leases have a length of their own. A second
 * reader costs no command, and its unlock costs none. If the hold is lost, each of these readers
 * loses its lease.
 *
 * <p><b>Each half is a {@link DistributedLock}</b>: strict, reentrant, owned by its thread, renewed while it is held. An
 * unlock throws {@link LeaseLostException} if the hold was lost. {@code newCondition} is refused for both halves. {@code
 * isLocked} says whether anybody holds that half; a writer that only reads any more still counts as a writer. {@code
 * forceUnlock} of either half ends all holds, of readers and of the writer.
 *
 * <p><b>Fencing.</b> Only a writer's token orders: it is larger than those of all readers and writers before it. Several
 * readers are valid at once. So a resource stores the tokens of writers alone, and never that of a reader. A reader
 * whose token is smaller than the stored one is late: what it has read may be old.
 *
 * <p>Needs a store that has read-write locks: Redis in mode {@code lua}, ZooKeeper, a database, or memory. On any other
 * store, the first command fails with {@link LockStoreException}. The lock, the permits and the read-write lock of one
 * name are different things. A listener, a tracer and the flight recorder see {@value #READ_PREFIX} or {@value
 * #WRITE_PREFIX} before the name. Tools show both halves together, as {@value #SHOWN_PREFIX} and the name.
 *
 * <p>For a lease that any thread may release, see {@link LockClient#acquireRead(String)} and {@link
 * LockClient#acquireWrite(String)}: the same lock, without an owner thread.
 */
public interface DistributedReadWriteLock extends ReadWriteLock {

    /** Stands before the name where tools show the read-write lock, both halves together, beside locks. */
    String SHOWN_PREFIX = "read-write:";

    /** Stands before the name where listeners, meters, traces and recordings show the read half. */
    String READ_PREFIX = "read:";

    /** Stands before the name where listeners, meters, traces and recordings show the write half. */
    String WRITE_PREFIX = "write:";

    /** Returns the name. */
    String name();

    /** Returns the lock that many threads and clients may hold at once. */
    @Override
    DistributedLock readLock();

    /** Returns the lock that excludes all others. */
    @Override
    DistributedLock writeLock();

    // --- for people and tools ---

    /**
     * Returns who reads or writes now. Costs one command, and one for the card of each client that has a hold, of at most
     * a hundred.
     *
     * @throws LockStoreException if the store failed, or has no read-write locks
     */
    ReadWriteState inspect();

    /**
     * Ends the hold of this holder, in this client or elsewhere, without asking its owner: as {@link
     * LockClient#forceRelease(String, String)}. All other holds stay.
     *
     * @param holder the holder to release, as {@link ReadWriteState.Hold#holder} shows it
     * @return {@link ForcedRelease.Outcome#HELD_BY_ANOTHER} if it has no hold and others have some
     * @throws IllegalArgumentException if the holder is empty
     * @throws LockStoreException if the store failed, or has no read-write locks
     */
    @CheckReturnValue
    ForcedRelease forceRelease(String holder);

    /**
     * Ends all holds, of readers and of the writer, as {@code forceUnlock} of either half does. For recoveries and tests.
     *
     * @return true if there was a hold
     * @throws LockStoreException if the store failed, or has no read-write locks
     */
    boolean forceReleaseAll();
}
