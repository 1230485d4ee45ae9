package io.holdfast.engine;

import static java.util.Objects.requireNonNull;

import io.holdfast.LockOptions;
import io.holdfast.engine.LockEvents.NameVisitor;
import io.holdfast.engine.PoolRequest.Kind;
import io.holdfast.spi.ForceReply;
import io.holdfast.spi.HolderId;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The engine of a client's pools: permits, and read-write locks. Each acquisition is a {@link Lane}; those of one pool
 * ask the store through a {@link Gate}. News of a holder id goes to the lane with its number alone: any other lane of
 * the pool would withdraw the id.
 */
public final class PoolEngine extends EngineParts {

    private final Engine locks;

    /** By their names at the store. */
    private final ConcurrentMap<String, Pool> pools = new ConcurrentHashMap<>();

    /** By the numbers of their acquisitions. */
    private final ConcurrentMap<Long, Lane> lanes = new ConcurrentHashMap<>();

    PoolEngine(Engine locks, StoreOpening opening) {
        super(locks, new PoolStore(opening, locks.events));
        this.locks = locks;
        store.listen(new Messages());
    }

    /** One pool in use here: its lanes, and the gate through which they ask the store. */
    static final class Pool {

        final String storedName;
        final Gate gate = new Gate();

        /** Changed only by {@link PoolEngine}, while it maps the name. */
        final Set<Lane> lanes = ConcurrentHashMap.newKeySet();

        /** The leases that threads own. Set by the lane of the lease, under its lock. */
        final ConcurrentMap<Thread, ActiveLease> owned = new ConcurrentHashMap<>();

        /** The lease that excludes all others; null if this client has none. Set as the leases that threads own are. */
        final AtomicReference<@Nullable ActiveLease> exclusive = new AtomicReference<>();

        Pool(String storedName) {
            this.storedName = storedName;
        }
    }

    /**
     * Starts an acquisition for the calling thread to wait for.
     *
     * @param isForTask whether the thread runs a task under the lease and then releases that
     */
    public Waiter submit(PoolRequest wanted, LockOptions options, WaitMode mode, boolean isForTask) {
        long now = settings.time.nanoTime();
        return submit(
                wanted, isForTask ? Waiter.forTask(options, mode, now) : Waiter.blocking(options, mode, null, now));
    }

    /** Starts an acquisition for the calling thread, which waits for it and will own the lease. */
    Waiter submitOwned(PoolRequest wanted, LockOptions options, WaitMode mode, Thread owner) {
        return submit(wanted, Waiter.blocking(options, mode, owner, settings.time.nanoTime()));
    }

    /** Starts an acquisition for a stage. */
    public Waiter submitAsync(PoolRequest wanted, LockOptions options, WaitMode mode) {
        return submit(wanted, Waiter.asynchronous(requireNonNull(options, "options"), mode, settings.time.nanoTime()));
    }

    private Waiter submit(PoolRequest wanted, Waiter waiter) {
        if (waiter.parked != null && waiter.waitNanos == Waiter.NO_DEADLINE) {
            refuseWaitForItself(wanted, waiter);
        }
        waiter.trace = events.asking(wanted.shownName(), waiter.makesOneAttempt());
        Lane lane;
        do {
            locks.ensureOpen();
            lane = open(wanted);
        } while (!lane.submit(waiter));
        if (isClosed()) {
            // close() may have passed over the lane before it was there.
            lane.handle(state -> state.onClosed(locks.closed(), null));
        }
        return waiter;
    }

    /**
     * Refuses a thread that has a share which only this thread ends, and which the wanted one excludes. Permits are not
     * checked: another caller may release one in time.
     */
    private void refuseWaitForItself(PoolRequest wanted, Waiter waiter) {
        Pool pool = wanted.kind() == Kind.PERMITS ? null : pools.get(wanted.storedName());
        if (pool == null) {
            return;
        }
        ActiveLease own = wanted.kind() == Kind.READ
                ? pool.exclusive.get()
                : pool.lanes.stream()
                        .map(Lane::current)
                        .filter(Objects::nonNull)
                        .filter(PoolEngine::isOfThisThread)
                        .findAny()
                        .orElse(null);
        if (own != null && isOfThisThread(own)) {
            throw new IllegalStateException(waiter.describe() + " would wait for itself without end: it holds the "
                    + own.hold.engine.described() + ", and only it releases that (expected: work under the lease that"
                    + " it has, or release that before, or a wait time)");
        }
    }

    private static boolean isOfThisThread(ActiveLease lease) {
        return lease.isValid() && Thread.currentThread().equals(lease.endlesslyHeldBy());
    }

    private Lane open(PoolRequest wanted) {
        AtomicReference<@Nullable Lane> opened = new AtomicReference<>();
        pools.compute(wanted.storedName(), (name, known) -> {
            Pool pool = known == null ? new Pool(name) : known;
            Lane lane = new Lane(this, pool, wanted);
            // In this step, so that the pool is not retired in between.
            pool.lanes.add(lane);
            opened.set(lane);
            return pool;
        });
        return requireNonNull(opened.get());
    }

    /** Notes the lane of an acquisition, before the number is sent. */
    void map(long number, Lane lane) {
        lanes.put(number, lane);
    }

    @Override
    void retire(NameEngine retired) {
        Lane lane = (Lane) retired;
        lane.numbers().forEach(lanes::remove);
        pools.computeIfPresent(lane.storedName(), (name, pool) -> {
            pool.lanes.remove(lane);
            return pool.lanes.isEmpty() ? null : pool;
        });
    }

    @Override
    boolean handle(String name, String holderId, Consumer<NameState> event) {
        Lane lane = HolderId.client(holderId).equals(settings.clientId) ? lanes.get(HolderId.number(holderId)) : null;
        if (lane == null) {
            return false;
        }
        lane.handle(event);
        return true;
    }

    @Override
    public boolean isClosed() {
        return locks.isClosed();
    }

    // --- read-write locks ---

    /** Returns the lease by which the thread owns a share of a read-write lock, valid or not; null if there is none. */
    @Nullable
    ActiveLease ownedBy(Thread thread, String storedName) {
        Pool pool = pools.get(storedName);
        return pool == null ? null : pool.owned.get(thread);
    }

    /** Returns whether somebody has a share of this weight now, as the store knows it. */
    boolean isHeld(PoolRequest share) {
        locks.ensureOpen();
        return await(store.inspect(share.storedName())).held().stream()
                .anyMatch(held -> held.weight() == share.weight());
    }

    /** Ends all holds on a read-write lock. Returns whether there was one. */
    boolean forceRelease(PoolRequest share) {
        locks.ensureOpen();
        String name = share.storedName();
        Pool pool = pools.get(name);
        List<NameEngine.Force> forces = pool == null
                ? List.of()
                : pool.lanes.stream()
                        .map(lane -> lane.beginForce(null))
                        .filter(Objects::nonNull)
                        .toList();
        ForceReply reply = await(store.forceRelease(name, null)
                .whenComplete(
                        (answer, error) -> forces.forEach(force -> force.onEnded(error == null && answer.isEnded()))));
        if (reply instanceof ForceReply.Ended ended) {
            // The next holder may harm what the last ones still work on, so the log says that there were some.
            Log.LOG.log(
                    System.Logger.Level.INFO,
                    "All holds on the read-write lock " + Quoted.name(share.name())
                            + " were ended by force through this client; one of the holders was "
                            + Quoted.holder(ended.holder()));
        }
        return reply.isEnded();
    }

    // --- the client ---

    /** Ends everything; completes when the store has confirmed all releases. See {@link Engine#closeAsync}. */
    CompletionStage<Void> closeAsync(Thread closer) {
        pools.values()
                .forEach(pool ->
                        pool.lanes.forEach(lane -> lane.handle(state -> state.onClosed(locks.closed(), closer))));
        retention.close();
        return compensation.whenIdle();
    }

    /** Returns how many names are in use here. */
    int size() {
        return pools.size();
    }

    /** For tests: how many acquisition numbers may be heard of. */
    int lanes() {
        return lanes.size();
    }

    long renewalLagNanos() {
        return pools.values().stream()
                .flatMap(pool -> pool.lanes.stream())
                .mapToLong(NameEngine::renewalLagNanos)
                .max()
                .orElse(0);
    }

    void visitWaits(NameVisitor visitor) {
        pools.values().forEach(pool -> pool.lanes.forEach(lane -> lane.visitWaits(visitor)));
    }

    /** Every waiter asks the store now. */
    void askAll() {
        pools.values().forEach(PoolEngine::askAll);
    }

    private static void askAll(@Nullable Pool pool) {
        if (pool != null) {
            pool.lanes.forEach(lane -> lane.handle(state -> state.contention().onHint()));
        }
    }

    /** Passes the store's messages about pools on. */
    private final class Messages extends HolderMessages {

        @Override
        public void released(String name) {
            askAll(pools.get(name));
        }

        @Override
        public void reconnected() {
            askAll();
        }
    }
}
