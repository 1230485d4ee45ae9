package io.holdfast.engine;

import static java.util.Objects.requireNonNull;

import io.holdfast.ClientCard;
import io.holdfast.ForcedRelease;
import io.holdfast.LockOptions;
import io.holdfast.PermitsState;
import io.holdfast.ReadWriteState;
import io.holdfast.engine.LockEvents.NameVisitor;
import io.holdfast.engine.PoolRequest.Kind;
import io.holdfast.log.Quoted;
import io.holdfast.spi.ForceReply;
import io.holdfast.spi.HolderId;
import io.holdfast.spi.StoreState;
import io.holdfast.store.StoreOpening;
import java.time.Duration;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The engine of a client's pools: permits, and read-write locks. Each acquisition is a {@link Lane}, but readers share
 * theirs; the lanes of one pool ask the store through a {@link Gate}. News of a holder id goes to the lane with its
 * number alone: any other lane of the pool would withdraw the id.
 */
public class PoolEngine extends EngineParts {

    /** Makes the engine; another one is made where a seeded bug must be found. */
    interface Maker {
        PoolEngine make(Engine locks, StoreOpening opening);
    }

    /** The cards of so many clients are read by one look. */
    private static final int CARDS_MAX = 100;

    private final Engine locks;

    /** By their names at the store. */
    private final ConcurrentMap<String, Pool> pools = new ConcurrentHashMap<>();

    /** How many lanes have been opened. */
    final AtomicLong opened = new AtomicLong();

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
        final Gate gate;

        /**
         * In the order in which they were opened, so that those that ask again after a reconnection do so in that order.
         * Changed only by {@link PoolEngine}, while it maps the name.
         */
        final Set<Lane> lanes = new ConcurrentSkipListSet<>(Comparator.comparingLong(lane -> lane.opened));

        /** The leases that threads own. Set by the lane of the lease, under its lock. */
        final ConcurrentMap<Thread, ActiveLease> owned = new ConcurrentHashMap<>();

        /** The lease that excludes all others; null if this client has none. Set as the leases that threads own are. */
        final AtomicReference<@Nullable ActiveLease> exclusive = new AtomicReference<>();

        /** The leases of readers that one thread alone releases. Changed as {@link #owned} is. */
        final Set<ActiveLease> readers = ConcurrentHashMap.newKeySet();

        /** The group that a new reader joins; null if the next one opens a group. Set while the name is mapped. */
        final AtomicReference<@Nullable Lane> reading = new AtomicReference<>();

        Pool(String storedName, Gate gate) {
            this.storedName = storedName;
            this.gate = gate;
        }

        /**
         * Returns leases that all have to end before such a request can be granted. A permit waits for any of several, and
         * nobody knows which.
         */
        Collection<ActiveLease> inTheWayOf(Kind kind) {
            ActiveLease alone = exclusive.get();
            return alone != null ? List.of(alone) : kind == Kind.WRITE ? readers : List.of();
        }
    }

    /**
     * Starts an acquisition for the calling thread to wait for.
     *
     * @param isForTask whether the thread runs a task under the lease and then releases that
     */
    public Waiter submit(PoolRequest wanted, LockOptions options, Waiter.Mode mode, boolean isForTask) {
        long now = settings.time.nanoTime();
        return submit(
                wanted, isForTask ? Waiter.forTask(options, mode, now) : Waiter.blocking(options, mode, null, now));
    }

    /** Starts an acquisition for the calling thread, which waits for it and will own the lease. */
    Waiter submitOwned(PoolRequest wanted, LockOptions options, Waiter.Mode mode, Thread owner) {
        return submit(wanted, Waiter.blocking(options, mode, owner, settings.time.nanoTime()));
    }

    /** Starts an acquisition for a stage. */
    public Waiter submitAsync(PoolRequest wanted, LockOptions options, Waiter.Mode mode) {
        return submit(wanted, Waiter.asynchronous(requireNonNull(options, "options"), mode, settings.time.nanoTime()));
    }

    private Waiter submit(PoolRequest wanted, Waiter waiter) {
        if (waiter.parked != null && waiter.waitNanos == Waiter.NO_DEADLINE) {
            refuseWaitForItself(wanted, waiter);
        }
        waiter.trace = events.asking(wanted.shownName(), waiter.makesOneAttempt());
        if (wanted.kind() == Kind.WRITE && !waiter.makesOneAttempt()) {
            endGroup(wanted);
        }
        boolean shares = wanted.kind() == Kind.READ && waiter.boundNanos() == 0;
        Lane lane;
        do {
            locks.ensureOpen();
            lane = open(wanted, shares);
            // An attempt that does not want to wait has a lane of its own if the group does not take it.
            shares &= !waiter.makesOneAttempt();
        } while (!lane.submit(waiter));
        if (isClosed()) {
            // close() may have passed over the lane before it was there.
            lane.onClosed(locks.closed(), null);
        }
        return waiter;
    }

    /** Lets the readers that come from now on ask the store, behind the writer that asks now. */
    void endGroup(PoolRequest wanted) {
        Pool pool = pools.get(wanted.storedName());
        if (pool != null) {
            pool.reading.set(null);
        }
    }

    /**
     * Refuses a thread that has a share which only this thread ends, and which the wanted one excludes. Permits are not
     * checked: another caller may release one in time.
     */
    private void refuseWaitForItself(PoolRequest wanted, Waiter waiter) {
        Pool pool = pools.get(wanted.storedName());
        if (pool == null) {
            return;
        }
        for (ActiveLease lease : pool.inTheWayOf(wanted.kind())) {
            if (Thread.currentThread().equals(lease.endlesslyHeldBy()) && lease.isValid()) {
                throw new IllegalStateException(waiter.describe() + " would wait for itself without end: it holds the "
                        + lease.hold.engine.described() + ", and only it releases that (expected: work under the lease"
                        + " that it has, or release that before, or a wait time)");
            }
        }
    }

    /** Returns a new lane, or the group that readers join. */
    private Lane open(PoolRequest wanted, boolean shares) {
        Pool used = shares ? pools.get(wanted.storedName()) : null;
        Lane group = used == null ? null : used.reading.get();
        if (group != null) {
            return group;
        }
        AtomicReference<@Nullable Lane> opened = new AtomicReference<>();
        pools.compute(wanted.storedName(), (name, known) -> {
            Pool pool = known == null ? new Pool(name, newGate()) : known;
            Lane lane = shares ? groupOf(pool, wanted) : newLane(pool, wanted);
            // In this step, so that the pool is not retired in between.
            pool.lanes.add(lane);
            opened.set(lane);
            return pool;
        });
        return requireNonNull(opened.get());
    }

    private Lane groupOf(Pool pool, PoolRequest wanted) {
        Lane group = pool.reading.get();
        if (group == null) {
            group = newGroup(pool, wanted);
            pool.reading.set(group);
        }
        return group;
    }

    Gate newGate() {
        return new Gate();
    }

    Lane newLane(Pool pool, PoolRequest wanted) {
        return new Lane(this, pool, wanted);
    }

    ReadGroup newGroup(Pool pool, PoolRequest wanted) {
        return new ReadGroup(this, pool, wanted);
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
            pool.reading.compareAndSet(lane, null);
            return pool.lanes.isEmpty() ? null : pool;
        });
    }

    @Override
    boolean handle(String name, String holderId, Consumer<NameState> event) {
        Lane lane = lane(holderId);
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
        return look(share).held().stream().anyMatch(held -> held.weight() == share.weight());
    }

    /** Returns who has a share of a read-write lock, with the cards of the first of their clients. */
    ReadWriteState inspectShares(PoolRequest share) {
        StoreState state = look(share);
        return new ReadWriteState(
                share.name(),
                holds(
                        state,
                        (held, card) -> new ReadWriteState.Hold(
                                held.holderId(),
                                held.weight() > 1,
                                Duration.ofMillis(held.remainingMillis()),
                                Hold.token(held.base(), 0),
                                card)),
                state.waiting());
    }

    // --- permits ---

    /** Returns who holds permits of a name, with the cards of the first of their clients. */
    public PermitsState inspectPermits(PoolRequest wanted) {
        StoreState state = look(wanted);
        return new PermitsState(
                wanted.name(),
                state.used(),
                holds(
                        state,
                        (held, card) -> new PermitsState.Hold(
                                held.holderId(),
                                held.weight(),
                                Duration.ofMillis(held.remainingMillis()),
                                Hold.token(held.base(), 0),
                                card)),
                state.waiting());
    }

    // --- both ---

    private StoreState look(PoolRequest wanted) {
        locks.ensureOpen();
        return await(store.inspect(wanted.storedName()));
    }

    /** Returns what is made of each hold and the card of its client, for the first of the clients. */
    private <T> List<T> holds(StoreState state, BiFunction<StoreState.Held, Optional<ClientCard>, T> made) {
        Map<String, CompletionStage<Optional<ClientCard>>> cards = new HashMap<>();
        for (StoreState.Held held : state.held()) {
            String client = HolderId.client(held.holderId());
            if (cards.size() < CARDS_MAX && !cards.containsKey(client)) {
                cards.put(client, events.cardOf(held.holderId()));
            }
        }
        return state.held().stream()
                .map(held -> {
                    CompletionStage<Optional<ClientCard>> card = cards.get(HolderId.client(held.holderId()));
                    return made.apply(held, card == null ? Optional.empty() : await(card));
                })
                .toList();
    }

    /**
     * Ends a hold on permits of a name, or on a read-write lock.
     *
     * @param holder the expected holder; null for all of them
     */
    public ForcedRelease forceRelease(PoolRequest wanted, @Nullable String holder) {
        locks.ensureOpen();
        return await(sendForce(wanted.storedName(), holder)
                .thenCompose(reply -> locks.described(wanted.name(), reply, forced(wanted, holder == null))));
    }

    /** Returns the beginning of a line of the log, which the name of a holder ends. */
    private static String forced(PoolRequest wanted, boolean all) {
        if (wanted.kind() == Kind.PERMITS) {
            return "The permits of " + Quoted.name(wanted.name())
                    + (all
                            ? " were all released by force through this client; the first of them were held by "
                            : " with one holder were released by force through this client; they were held by ");
        }
        return (all ? "All holds on the read-write lock " : "One hold on the read-write lock ")
                + Quoted.name(wanted.name())
                + (all
                        ? " were ended by force through this client; one of the holders was "
                        : " was ended by force through this client; it was that of ");
    }

    /** Ends a hold, or all of a pool, and tells the lanes here that this concerns. */
    private CompletionStage<ForceReply> sendForce(String storedName, @Nullable String holder) {
        List<NameEngine.Force> forces = forced(storedName, holder).stream()
                .map(lane -> lane.beginForce(holder))
                .filter(Objects::nonNull)
                .toList();
        return store.forceRelease(storedName, holder)
                .whenComplete(
                        (reply, error) -> forces.forEach(force -> force.onEnded(error == null && reply.isEnded())));
    }

    /** Returns the lanes here that such a command may concern. A lane that waits asks again after its end. */
    private Collection<Lane> forced(String storedName, @Nullable String holder) {
        if (holder == null) {
            return lanesOf(storedName);
        }
        Lane lane = lane(holder);
        return lane == null || !lane.storedName().equals(storedName) ? List.of() : List.of(lane);
    }

    /** Returns the lane of a holder id; null if the id is not in use here. */
    @Nullable
    Lane lane(String holderId) {
        return HolderId.client(holderId).equals(settings.clientId) ? lanes.get(HolderId.number(holderId)) : null;
    }

    // --- the client ---

    /** Ends everything; completes when the store has confirmed all releases. See {@link Engine#closeAsync}. */
    CompletionStage<Void> closeAsync(Thread closer) {
        allLanes().forEach(lane -> lane.onClosed(locks.closed(), closer));
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
        return allLanes().mapToLong(NameEngine::renewalLagNanos).max().orElse(0);
    }

    void visit(NameVisitor visitor) {
        allLanes().forEach(lane -> lane.visit(visitor));
    }

    void visitWaits(NameVisitor visitor) {
        allLanes().forEach(lane -> lane.visitWaits(visitor));
    }

    /** Every waiter asks the store now. */
    void askAll() {
        allLanes().forEach(PoolEngine::ask);
    }

    private static void ask(Lane lane) {
        lane.handle(state -> state.contention().onHint());
    }

    private Stream<Lane> allLanes() {
        return pools.values().stream().flatMap(pool -> pool.lanes.stream());
    }

    /** Returns the lanes of a pool; none if it is not in use here. */
    private Collection<Lane> lanesOf(String storedName) {
        Pool pool = pools.get(storedName);
        return pool == null ? List.of() : pool.lanes;
    }

    /** Passes the store's messages about pools on. */
    private final class Messages extends HolderMessages {

        @Override
        public void released(String name) {
            lanesOf(name).forEach(PoolEngine::ask);
        }

        @Override
        public void reconnected() {
            askAll();
        }
    }
}
