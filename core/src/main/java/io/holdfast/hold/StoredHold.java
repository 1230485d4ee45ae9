package io.holdfast.hold;

import io.holdfast.Lease;
import io.holdfast.LockClient;
import io.holdfast.engine.ActiveLease;
import io.holdfast.engine.ThreadLock;
import io.holdfast.spi.LockStore;
import org.jspecify.annotations.Nullable;

/** The hold behind a lease. Thread-safe. */
public final class StoredHold {

    private final ActiveLease lease;

    private StoredHold(ActiveLease lease) {
        this.lease = lease;
    }

    /** Returns the hold behind a lease; null if the lease is not one of a client. */
    public static @Nullable StoredHold of(Lease lease) {
        ActiveLease active = ActiveLease.behind(lease);
        return active == null ? null : new StoredHold(active);
    }

    /**
     * Returns the store of a client; null for a client that the application implements itself.
     *
     * @throws io.holdfast.spi.StoreException if it is not open
     */
    public static @Nullable LockStore storeOf(LockClient client) {
        return ThreadLock.storeBehind(client.getLock("store"));
    }

    /** Returns the name of the lock. */
    public String name() {
        return lease.name();
    }

    /** Returns whether it is a hold of permits or of a read-write lock, whose name may also be that of a lock. */
    public boolean isOfPool() {
        return lease.hold.engine.poolRequest() != null;
    }

    /** Returns the id of the hold at the store. */
    public String holderId() {
        return lease.holderId();
    }

    /** Returns the base of the hold's fencing tokens, which the store gave. */
    public long base() {
        return lease.hold.base;
    }

    /**
     * Returns the store that keeps the hold.
     *
     * @throws io.holdfast.spi.StoreException if it is not open
     */
    public LockStore store() {
        return lease.hold.engine.store();
    }

    /**
     * Makes the lease the last one on its hold: the next waiter of this client gets a hold of its own. For a transaction
     * that is about to lock the hold's row. Two leases of one hold would lock the same row, and not exclude each other.
     *
     * @throws io.holdfast.LeaseLostException if the lease is lost
     * @throws IllegalStateException if it was released
     */
    public void tie() {
        lease.ensureValid();
        if (!lease.hold.engine.onTied(lease)) {
            // It has ended since.
            lease.ensureValid();
            throw new IllegalStateException(lease.describe() + " has ended");
        }
    }
}
