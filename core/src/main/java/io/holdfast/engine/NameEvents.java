package io.holdfast.engine;

import io.holdfast.LockException;
import io.holdfast.spi.ClockReading;
import io.holdfast.spi.LockStore;
import io.holdfast.spi.RenewReply;
import io.holdfast.spi.RenewRequest;
import io.holdfast.spi.TimeSource;
import java.util.Collection;
import org.jspecify.annotations.Nullable;

/**
 * A name as its waiters, leases and holds know it: the events that come from them, and what they need of the client.
 * Thread-safe.
 */
public interface NameEvents {

    String name();

    /** Returns the name at the store; that of a lock is its own. */
    String storedName();

    EngineSettings settings();

    Callbacks callbacks();

    /** See {@link EventLock#described}. */
    String described();

    /** Returns whether at most one lease on the name is valid at a time. */
    default boolean isExclusive() {
        return true;
    }

    /** Returns what is asked of a pool here; null if this is a lock. */
    default @Nullable PoolRequest poolRequest() {
        return null;
    }

    default TimeSource time() {
        return settings().time;
    }

    /**
     * Returns the store that keeps the holds.
     *
     * @throws io.holdfast.spi.StoreException if it is not open
     */
    LockStore store();

    /** A transaction is about to depend on the hold: see {@link Tenure#onTied}. */
    boolean onTied(ActiveLease lease);

    /** Returns the lease that is out; null if there is none. */
    @Nullable
    ActiveLease current();

    /**
     * Returns the leases of this client that a waiter waits for: it is granted nothing before the end of each, as far as
     * that is known. After a grant, the lease that was granted.
     */
    Collection<ActiveLease> blocking();

    /** A thread that was nudged tries for the lock. */
    void onClaim(Waiter waiter);

    /**
     * A waiter gives up. Returns false if it has had another outcome before.
     *
     * @param why the error of a wait that would never end; otherwise null
     */
    boolean onLeave(Waiter waiter, Waiter.State outcome, @Nullable LockException why);

    /** The caller of a lease has the other names, too, that it asked for. */
    void onDelivered(ActiveLease lease);

    /** The owner released: the lease is RELEASED. */
    void onReleased(ActiveLease lease);

    /** The owner released, and the name is to stay locked until this time. */
    void onRetained(ActiveLease lease, long endNanos);

    /** The owner gives its lease a new time. Answered by {@link LeaseExtension#end}. */
    void onExtending(LeaseExtension extension);

    /** A caller found that the time of a lease has passed. */
    void onLeaseOver(ActiveLease lease);

    /** The time of a hold has come: see {@link Tenure#onRenewalDue}. */
    @Nullable
    RenewRequest onRenewalDue(Hold hold, ClockReading sent, boolean jumped);

    /** The store answered a renewal. */
    void onRenewed(
            Hold hold, RenewRequest request, ClockReading sent, @Nullable RenewReply reply, @Nullable Throwable error);
}
