package io.holdfast;

import java.util.Collection;
import java.util.List;

/**
 * Thrown instead of a wait that would never end. The calling thread holds a lock that another thread of this process
 * waits for, and that thread holds what the caller asks for, directly or over further threads. The message names the
 * threads and locks. The locks of the caller stay held; release them, for example by leaving a {@code try} block, and
 * the other thread continues.
 *
 * <pre>{@code
 * try {
 *     locks.runChecked("account:1", LockOptions.defaults(),
 *             one -> locks.run("account:2", two -> transfer(one, two)));
 * } catch (DeadlockException e) {      // another thread holds account:2 and waits for account:1
 *     log.warn("Take these locks in one order, or by acquireAll: {}", e.lockNames());
 * }
 * }</pre>
 *
 * <p>This is thrown only if it is certain: each thread waits without a time limit, and each lock is held by a lease
 * that is renewed without limit and that only its thread releases. These are the leases of {@link DistributedLock}, of
 * the lambda forms except {@code callAsync}, which refuse a release by another thread, and of {@link
 * LockOptions#releasedByThread}, where the caller declares it. A writer of a {@link DistributedReadWriteLock} waits for
 * each reader, and a reader for the writer. Not checked are waits for permits, waits for other leases, which any thread
 * may release, and waits of a stage. Nor are waits for a lock that another client holds, even another client of this
 * process. {@code holdfast ls} shows cycles of several processes.
 *
 * @see LockOptions#ignoreDeadlocks
 */
public final class DeadlockException extends LockException {

    private static final long serialVersionUID = 1;

    private final List<String> lockNames;

    /**
     * Creates an exception; public so that tests can throw it.
     *
     * @param lockNames the names that are waited for, the caller's first
     */
    public DeadlockException(String message, Collection<String> lockNames) {
        super(message, null);
        this.lockNames = List.copyOf(lockNames);
    }

    /** Returns the names that the threads wait for, the caller's first. */
    public List<String> lockNames() {
        return lockNames;
    }
}
