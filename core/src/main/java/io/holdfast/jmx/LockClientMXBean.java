package io.holdfast.jmx;

import io.holdfast.ForcedRelease;
import io.holdfast.LockClient;
import java.util.List;

/**
 * A {@link LockClient} as JMX shows it: what it holds, and for which locks its callers wait. {@link LockManagement}
 * registers it. Reading an attribute costs no command.
 *
 * <pre>{@code
 * ObjectName name = LockManagement.register(locks);
 * MBeanServer server = ManagementFactory.getPlatformMBeanServer();
 * LockClientMXBean client = JMX.newMXBeanProxy(server, name, LockClientMXBean.class);
 * for (LockClientMXBean.LockInfo lock : client.getLocks()) {
 *     log.info("{}: {} wait, the first for {} ms", lock.getName(), lock.getWaiting(), lock.getLongestWaitMillis());
 * }
 * }</pre>
 */
public interface LockClientMXBean {

    /** Returns the client's id, with which its holder ids at the store begin. */
    String getId();

    /** Returns a description of the store, without secrets. */
    String getStore();

    /** Returns how many locks, and leases of permits and read-write locks, this client holds. */
    int getHeldCount();

    /** Returns how many threads and stages of this client wait for a lock. */
    int getWaitingCount();

    /** Returns the names of the leaderships in which this client leads, sorted. */
    List<String> getLeads();

    /** Returns the longest current wait for a lock in milliseconds, or zero. Candidates for leaderships do not count. */
    long getOldestWaitMillis();

    /** Returns the delay of the most overdue renewal in milliseconds, or zero; see {@link LockClient#renewalLag}. */
    long getRenewalLagMillis();

    /**
     * Returns the locks for which callers wait, those with the longest wait first, and then the locks that are held,
     * the longest held first; 200 at most. Each lease and each wait of permits is an entry with the name {@code
     * permits:NAME}; of a read-write lock, {@code read:NAME} or {@code write:NAME}.
     */
    List<LockInfo> getLocks();

    /**
     * Returns who holds a lock, as the store shows it; empty if nobody does. Costs a command.
     *
     * @throws IllegalStateException if the store failed, or the client is closed
     */
    String findHolder(String name);

    /**
     * Ends the hold of this holder on a lock, in this client or elsewhere, as {@link
     * LockClient#forceRelease(String, String)} does.
     *
     * @param holder the holder to release, as {@link #findHolder} shows it
     * @throws UnsupportedOperationException if that was not allowed when the client was registered
     * @throws IllegalStateException if the store failed, or the client is closed
     */
    ForceInfo forceRelease(String name, String holder);

    /** The result of a release by force. */
    interface ForceInfo {

        /** Returns the name of a {@link ForcedRelease.Outcome}. */
        String getOutcome();

        /** Returns whose hold was ended, or who holds the lock now; empty if it is free. */
        String getHolder();
    }

    /** A lock that the client holds or waits for. */
    interface LockInfo {

        /**
         * Returns the lock name; for permits {@code permits:NAME}, for a read-write lock {@code read:NAME} or {@code
         * write:NAME}.
         */
        String getName();

        /** Returns whether this client has a lease on the lock. */
        boolean isHeld();

        /** Returns the fencing token of that lease, or zero. */
        long getFencingToken();

        /** Returns for how long it has been held, in milliseconds; zero without a lease. */
        long getHeldMillis();

        /** Returns for how long the lease is valid unless it is renewed, in milliseconds; zero without a lease. */
        long getRemainingMillis();

        /** Returns how many threads and stages of this client wait for the lock. */
        int getWaiting();

        /** Returns how long the first of them has waited, in milliseconds. */
        long getLongestWaitMillis();
    }
}
