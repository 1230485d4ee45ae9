package io.holdfast.engine;

import io.holdfast.LockClientClosedException;
import io.holdfast.LockException;
import io.holdfast.LockStoreException;
import io.holdfast.engine.PoolEngine.Pool;
import io.holdfast.engine.PoolRequest.Kind;
import io.holdfast.spi.AcquireRequest;
import io.holdfast.spi.ClockReading;
import io.holdfast.store.StoreErrors;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One acquisition of permits, or of a share of a read-write lock: a name engine with one waiter, one attempt and one
 * hold. Only readers share one, in a {@link ReadGroup}. It is retired when its lease has ended, or when the wait has. No
 * lease follows another on its hold, because the order of a pool is that of all clients.
 *
 * <p>Invariant: while an acquisition number of the lane may be heard of, {@link PoolEngine} maps it to the lane.
 */
@SuppressWarnings("serial") // nobody writes it anywhere
class Lane extends NameEngine {

    /** For how long a wait that knows nothing of the pool lasts at least: a round trip. */
    private static final long FIRST_ANSWER_NANOS = 100_000_000;

    private final PoolEngine pools;
    final Pool pool;
    private final PoolRequest wanted;

    /** Its place among the client's lanes, in the order of their opening. */
    final long opened;

    private final List<Long> numbers = new ArrayList<>(1); // by lock

    /** The attempt that waits at the store or behind the gate; null if none does. */
    private @Nullable Attempt atGate; // by lock

    /** The lease that is out, as the pool knows it. */
    private @Nullable ActiveLease known; // by lock

    /** Why the wait at the store ended, if that failed. */
    private @Nullable LockStoreException failure; // by lock

    Lane(PoolEngine pools, Pool pool, PoolRequest wanted) {
        super(pools, wanted.name());
        this.pools = pools;
        this.pool = pool;
        this.wanted = wanted;
        this.opened = pools.opened.incrementAndGet();
    }

    @Override
    public boolean isExclusive() {
        return wanted.kind() == Kind.WRITE;
    }

    @Override
    public String storedName() {
        return pool.storedName;
    }

    @Override
    public String shownName() {
        return wanted.shownName();
    }

    @Override
    public String described() {
        return wanted.toString();
    }

    @Override
    public PoolRequest poolRequest() {
        return wanted;
    }

    @Override
    public boolean isPlural() {
        return wanted.kind() == Kind.PERMITS;
    }

    @Override
    public Collection<ActiveLease> blocking() {
        ActiveLease own = current();
        return own != null ? List.of(own) : pool.inTheWayOf(wanted.kind());
    }

    // --- asking ---

    @Override
    public Attempt newAttempt(long leaseNanos, boolean queue) {
        Attempt made = super.newAttempt(leaseNanos, queue);
        numbers.add(made.acquisition);
        pools.map(made.acquisition, this);
        return made;
    }

    List<Long> numbers() {
        return numbers;
    }

    @Override
    AcquireRequest request(Attempt attempt) {
        return super.request(attempt).weighing(wanted.weight(), wanted.limit());
    }

    /** An attempt that does not want to wait passes the gate. */
    @Override
    public void sendAcquire(Attempt attempt) {
        if (attempt.queue) {
            boolean waited = atGate != null && atGate.sent == null;
            atGate = attempt;
            if (!pool.gate.enter(this)) {
                // Nothing is sent, so nothing is under way and nothing has to be withdrawn.
                attempt.inFlight = false;
                return;
            }
            if (waited) {
                // A store that has failed since then gets no new patience from each of those that waited for the gate.
                Gate.Heard heard = pool.gate.heard();
                attempt.lastGoodNanos = heard != null && heard.error() != null
                        ? Math.max(attempt.lastGoodNanos, heard.goodNanos())
                        : time().nanoTime();
            }
        }
        ClockReading sent = attempt.markSending(time(), engine.settings.nonces);
        engine.store
                .acquire(request(attempt))
                .whenComplete((reply, error) -> handle(state -> {
                    noteAnswer(error);
                    state.onAcquired(attempt, sent, reply, error);
                }));
    }

    private void noteAnswer(@Nullable Throwable error) {
        long now = time().nanoTime();
        if (error == null) {
            pool.gate.onGood(now);
        } else {
            pool.gate.onFailed(now, StoreErrors.of(error));
        }
    }

    /** Another lane has left the gate, and this one is the first of those that waited. */
    void onAdmitted() {
        handle(state -> state.contention().onPoll());
    }

    // --- the end of a wait ---

    /**
     * A wait that ends behind the gate has not asked the store. It ends as the last answer to the others was, if that
     * is new: those at the store ask once in each poll interval.
     */
    @Override
    public boolean onLeave(Waiter waiter, Waiter.State outcome, @Nullable LockException why) {
        Boolean left = find(state -> {
            Attempt attempt = atGate;
            if (outcome != Waiter.State.TIMED_OUT
                    || waiter.state != Waiter.State.PENDING
                    || attempt == null
                    || attempt.sent != null) {
                return null;
            }
            long now = time().nanoTime();
            Gate.Heard heard = pool.gate.heard();
            if (heard != null && now - heard.atNanos() <= engine.settings.pollNanos + FIRST_ANSWER_NANOS) {
                attempt.lastError = heard.error();
                attempt.busy = heard.error() == null;
                return null;
            }
            long rest = FIRST_ANSWER_NANOS - (now - waiter.arrivedNanos);
            if (rest <= 0) {
                return null;
            }
            scheduleTimeout(waiter, rest);
            return true;
        });
        return left != null ? left : super.onLeave(waiter, outcome, why);
    }

    /** Nobody is asked for the present holder: a pool has several. */
    @Override
    public void reportLoss(ActiveLease lease, String why, boolean answered) {
        super.reportLoss(lease, why, false);
    }

    @Override
    public void failWaiter(Waiter waiter, Waiter.State outcome, @Nullable LockException why) {
        // Not at the end of its own time: the others may have more.
        boolean hasTime = waiter.leftNanos(time().nanoTime()) > 0;
        if (hasTime && why instanceof LockStoreException failed && atGate != null && atGate.lastError != null) {
            failure = failed;
        }
        super.failWaiter(waiter, outcome, why);
    }

    /** Tells the pool of the lease, for as long as it is out. */
    void share() {
        ActiveLease lease = current();
        ActiveLease before = known;
        if (lease == before) {
            return;
        }
        if (before != null) {
            disown(before);
            // Another lane may have the next one already.
            pool.exclusive.compareAndSet(before, null);
        }
        known = lease;
        if (lease != null) {
            own(lease);
            if (isExclusive()) {
                pool.exclusive.set(lease);
            }
        }
    }

    final void own(ActiveLease lease) {
        Thread owner = lease.owner();
        if (owner != null) {
            pool.owned.put(owner, lease);
        }
        if (wanted.kind() == Kind.READ && lease.releaser() != null) {
            pool.readers.add(lease);
        }
    }

    final void disown(ActiveLease lease) {
        Thread owner = lease.owner();
        if (owner != null) {
            pool.owned.remove(owner, lease);
        }
        pool.readers.remove(lease);
    }

    /** The client is closed: see {@link NameState#onClosed}. */
    void onClosed(LockClientClosedException why, @Nullable Thread closer) {
        handle(state -> state.onClosed(why, closer));
    }

    @Override
    LostHolds lostHolds() {
        return pools.lostHolds.ofShares();
    }

    /** Leaves the gate with the wait. A failing store fails those behind the gate, too, as it fails all that wait. */
    @Override
    void settle() {
        super.settle();
        share();
        if (atGate == null || state().isContending()) {
            return;
        }
        boolean asked = atGate.sent != null;
        atGate = null;
        LockStoreException why = failure;
        if (why != null && asked) {
            pool.gate.drain().forEach(lane -> later(() -> lane.onStoreFailed(why)));
        }
        pool.gate.leave(this);
        later(pool.gate::admit);
    }

    private void onStoreFailed(LockStoreException why) {
        handle(state -> state.failAll(why));
    }
}
