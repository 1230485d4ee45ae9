package io.holdfast.engine;

import io.holdfast.LockClientClosedException;
import io.holdfast.engine.LockEvents.NameVisitor;
import io.holdfast.engine.PoolEngine.Pool;
import io.holdfast.engine.PoolRequest.Kind;
import io.holdfast.spi.ClockReading;
import io.holdfast.spi.RenewRequest;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Readers of one client that share a hold on a read-write lock, or wait for it together. The hold is granted to all that
 * wait, and is released with the last lease. A reader that comes in between enters, and leaves, without a command.
 *
 * <p>Only leases that are renewed without limit share a hold: a length of its own has to end a lease at the store, too.
 *
 * <p>A pool has one group that new readers join. It is replaced when another client waits for the lock, and when a
 * caller of this client begins to wait to write. So is it when the rest of the lease is short, or when a release by
 * force may have ended the hold. The readers of the former group go on; new ones ask the store, behind those that wait.
 *
 * <p>Invariant: the tenure's lease, by which the hold is renewed, is one of {@link #readers}; while one of their threads
 * is alive, it is the lease of such a reader. With a lease, nobody waits in the group.
 */
@SuppressWarnings("serial") // nobody writes it anywhere
class ReadGroup extends Lane {

    /** All leases that are out, in the order of their grants. */
    private final Set<ActiveLease> readers = new LinkedHashSet<>(2); // by lock

    /** How many have joined: at most as many as a hold has tokens. */
    private int joined; // by lock

    /** Until when the lock stays locked, as readers that have left wanted; null if none did. */
    private @Nullable Long retainedNanos; // by lock

    /** The work that a close of the client left. */
    private List<ActiveLease> left = List.of(); // by lock

    ReadGroup(PoolEngine pools, Pool pool, PoolRequest wanted) {
        super(pools, pool, wanted);
    }

    /** Those that wait here do not wait for readers. */
    @Override
    public Collection<ActiveLease> blocking() {
        return pool.inTheWayOf(Kind.READ);
    }

    // --- entering ---

    /**
     * A reader wants in. Returns false if it cannot join: the group is replaced, or the reader makes one attempt, and so
     * wants to hear more than that others wait here.
     */
    @Override
    boolean arrive(NameState state, Waiter waiter) {
        Hold held = state.tenure.lease() == null ? null : state.tenure.hold();
        boolean waits = held == null && (state.isContending() || state.tenure.isActive());
        if (waits && waiter.makesOneAttempt()) {
            return false;
        }
        if (joined == Hold.HAND_OFFS_MAX || (held != null && !isOpenFor(waiter, held))) {
            pool.reading.compareAndSet(this, null);
            return false;
        }
        if (held == null) {
            boolean arrived = super.arrive(state, waiter);
            joined += arrived ? 1 : 0;
            return arrived;
        }
        joined++;
        waiter.onSubmitted(this);
        enter(waiter, held);
        return true;
    }

    /** Returns whether a reader may enter on the hold: no writer waits for its end, as far as this client knows. */
    boolean isOpenFor(Waiter waiter, Hold held) {
        return !held.contended
                && !held.forced
                && held.hasTokenLeft()
                && isRenewed()
                && engine.upkeep.hasRightLength(held, waiter);
    }

    /** Returns whether the hold is renewed. Otherwise nothing tells this client that somebody waits. */
    private boolean isRenewed() {
        keep();
        ActiveLease keeper = state().tenure.lease();
        return keeper != null && isAlive(keeper);
    }

    private void enter(Waiter waiter, Hold held) {
        add(waiter, waiter.leaseOn(held, time().nanoTime()));
    }

    private void add(Waiter waiter, ActiveLease lease) {
        readers.add(lease);
        own(lease);
        super.completeWaiter(waiter, lease);
    }

    /** The store granted the hold: all that wait enter. */
    @Override
    public void completeWaiter(Waiter waiter, ActiveLease lease) {
        add(waiter, lease);
        state().waiters().drain().forEach(next -> enter(next, lease.hold));
    }

    // --- leaving ---

    @Override
    public void onReleased(ActiveLease lease) {
        handle(state -> leave(state, lease));
    }

    @Override
    public void onRetained(ActiveLease lease, long endNanos) {
        handle(state -> {
            if (retainedNanos == null || endNanos - retainedNanos > 0) {
                retainedNanos = endNanos;
            }
            leave(state, lease);
        });
    }

    private void leave(NameState state, ActiveLease lease) {
        if (!remove(lease)) {
            endLease(lease, true);
            return;
        }
        if (!readers.isEmpty()) {
            endLease(lease, false);
        } else if (retainedNanos != null && retainedNanos - time().nanoTime() > 0) {
            state.tenure.onRetained(lease, retainedNanos);
        } else {
            state.tenure.onReleased(lease);
        }
    }

    private boolean remove(ActiveLease lease) {
        disown(lease);
        return readers.remove(lease);
    }

    /** Lets the hold be renewed for a reader whose thread is alive, if there is one. */
    private void keep() {
        if (readers.isEmpty()) {
            return;
        }
        ActiveLease keeper = state().tenure.lease();
        if (keeper == null || (readers.contains(keeper) && isAlive(keeper))) {
            return;
        }
        readers.stream()
                .filter(this::isAlive)
                .findFirst()
                .or(() -> readers.stream().findFirst())
                .ifPresent(state().tenure::keepFor);
    }

    private boolean isAlive(ActiveLease reader) {
        Thread owner = reader.owner();
        return owner == null || engine.settings.isAlive.test(owner);
    }

    // --- while it is held ---

    @Override
    public void onLeaseOver(ActiveLease lease) {
        handle(state -> {
            ActiveLease keeper = state.tenure.lease();
            if (keeper != null) {
                state.tenure.onLeaseOver(keeper);
            }
        });
    }

    /** Asks each time whether others wait, as readers may come for ever. */
    @Override
    public @Nullable RenewRequest onRenewalDue(Hold hold, ClockReading sent, boolean jumped) {
        return find(state -> {
            sweep();
            RenewRequest due = state.tenure.onRenewalDue(hold, sent, jumped);
            return due == null ? null : due.counted(true);
        });
    }

    /** Lengthens the hold for all readers that live. */
    @Override
    public void onExtending(LeaseExtension extension) {
        handle(state -> {
            sweep();
            extension.onAsked(state);
        });
    }

    /**
     * Ends the leases of threads that have died, which would be renewed with the others for ever. If all have died, the
     * hold is renewed no more, and ends as that of any dead thread.
     */
    void sweep() {
        if (!isRenewed()) {
            return;
        }
        for (ActiveLease reader : new ArrayList<>(readers)) {
            if (!isAlive(reader)) {
                remove(reader);
                super.reportLoss(reader, "its thread has died", false);
            } else if (reader.noticeForgotten()) {
                reportForgotten(reader);
            }
        }
    }

    /** The hold is lost, and all readers with it. */
    @Override
    public void reportLoss(ActiveLease lease, String why, boolean answered) {
        List<ActiveLease> lost = List.copyOf(readers);
        lost.forEach(this::remove);
        lost.forEach(reader -> super.reportLoss(reader, why, answered));
    }

    @Override
    void onClosed(LockClientClosedException why, @Nullable Thread closer) {
        handle(state -> {
            left = readers.stream()
                    .filter(reader -> reader.isUsedAfterCloseBy(closer))
                    .toList();
            left.forEach(ActiveLease::noteLeft);
            left.stream().findFirst().ifPresent(state.tenure::keepFor);
            state.onClosed(why, closer);
        });
    }

    @Override
    public void leave(Hold hold, ActiveLease lease) {
        leave(hold, left);
    }

    @Override
    void show(NameState state, NameVisitor visitor) {
        if (readers.isEmpty()) {
            super.show(state, visitor);
        }
        readers.forEach(reader -> visitor.visit(this, reader, null, 0, null));
    }

    // --- after each event ---

    /** The pool knows of each reader. */
    @Override
    void share() {}

    @Override
    void settle() {
        keep();
        super.settle();
    }
}
