package io.holdfast.engine;

import static java.util.Objects.requireNonNull;

import io.holdfast.ClientCard;
import io.holdfast.ForcedRelease;
import io.holdfast.LocalLock;
import io.holdfast.LockClientClosedException;
import io.holdfast.LockOptions;
import io.holdfast.LockState;
import io.holdfast.LockStoreException;
import io.holdfast.engine.LockEvents.NameVisitor;
import io.holdfast.log.Log;
import io.holdfast.log.Quoted;
import io.holdfast.spi.AcquireReply;
import io.holdfast.spi.Finding;
import io.holdfast.spi.ForceReply;
import io.holdfast.spi.StageWait;
import io.holdfast.spi.StoreException;
import io.holdfast.spi.StoreHealth;
import io.holdfast.spi.StoreState;
import io.holdfast.store.StoreErrors;
import io.holdfast.store.StoreOpening;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** The engine of a client's locks: finds the {@link NameEngine} for an event. Has the engine of the client's pools. */
public final class Engine extends EngineParts {

    /** A name that no user locks. */
    private static final String HEALTH_NAME = "holdfast:health";

    /** How long close() waits for the store to confirm releases. */
    private static final Duration CLOSE_AT_MOST = Duration.ofSeconds(2);

    private final StoreOpening opening;
    private final ConcurrentMap<String, NameEngine> names = new ConcurrentHashMap<>();
    private final AtomicReference<@Nullable CompletableFuture<Void>> closing = new AtomicReference<>();
    private final AtomicBoolean storeClosed = new AtomicBoolean();
    private final CompletableFuture<@Nullable Void> closed = new CompletableFuture<>();
    private final PoolEngine pools;

    /**
     * @param lostHolds those of the client, which a reopening does not forget
     * @param observers makes the receiver of the events
     */
    public Engine(StoreOpening opening, EngineSettings settings, LostHolds lostHolds, LockEvents.Opener observers) {
        super(
                settings,
                lostHolds,
                parts -> observers.open((Engine) parts),
                events -> new GuardedStore(opening, events));
        this.opening = opening;
        settings.patience = new Patience(settings.storeTimeout, store::recovery);
        settings.patience.check(store);
        pools = settings.pools.make(this, opening);
        store.listen(new Messages());
        events.begin();
    }

    /** Starts an acquisition for the calling thread to wait for. */
    public Waiter submit(String name, LockOptions options, Waiter.Mode mode) {
        return submit(
                Limits.checkName(name),
                Waiter.blocking(requireNonNull(options, "options"), mode, null, settings.time.nanoTime()));
    }

    /** Starts an acquisition for the calling thread, which runs a task under the lease and then releases it. */
    public Waiter submitTask(String name, LockOptions options, Waiter.Mode mode) {
        return submit(Limits.checkName(name), Waiter.forTask(options, mode, settings.time.nanoTime()));
    }

    private void refuseWaitForItself(String name, Waiter waiter) {
        NameEngine engine = waiter.waitNanos == Waiter.NO_DEADLINE ? names.get(name) : null;
        ActiveLease lease = engine == null ? null : engine.current();
        if (lease != null && lease.isValid() && Thread.currentThread().equals(lease.endlesslyHeldBy())) {
            throw new IllegalStateException(waiter.describe() + " would wait for itself without end: it holds the lock "
                    + Quoted.name(name) + ", and only it releases that (expected: work under the lease that it has, or"
                    + " a wait time)");
        }
    }

    /** Starts an acquisition for a stage. */
    public Waiter submitAsync(String name, LockOptions options, Waiter.Mode mode) {
        return submit(
                Limits.checkName(name),
                Waiter.asynchronous(requireNonNull(options, "options"), mode, settings.time.nanoTime()));
    }

    /** Starts an acquisition of a name that was checked. */
    Waiter submit(String name, Waiter waiter) {
        if (waiter.parked != null) {
            refuseWaitForItself(name, waiter);
        }
        waiter.trace = events.asking(name, waiter.makesOneAttempt());
        do {
            ensureOpen();
        } while (!engine(name).submit(waiter));
        closeIfClosing(name);
        return waiter;
    }

    /** Closes a name that close() may have passed over before the name was there. */
    private void closeIfClosing(String name) {
        if (isClosed()) {
            // The calling thread may have been granted the lock, and goes on to work under it.
            handle(name, state -> state.onClosed(closed(), null));
        }
    }

    /**
     * Starts an attempt to take several names by one command.
     *
     * @param wanted sorted, distinct
     * @return one waiter for each, in their order; empty if the store cannot, or one of the names is in use here
     */
    List<Waiter> submitMulti(List<String> wanted, Supplier<Waiter> waiters) {
        ensureOpen();
        if (wanted.size() < 2 || !store.canAcquireAll(wanted)) {
            return List.of();
        }
        List<Waiter> submitted = new MultiAttempt(store, events, this::engine, wanted).submit(waiters);
        wanted.forEach(this::closeIfClosing);
        return submitted;
    }

    /**
     * Returns whether the store has pools.
     *
     * @throws LockStoreException if it is not open yet
     */
    public boolean hasPools() {
        ensureOpen();
        try {
            return opening.get().pools().isPresent();
        } catch (StoreException e) {
            throw StoreErrors.toUser(e, store.describe());
        }
    }

    /** Returns the engine of the client's pools. */
    public PoolEngine pools() {
        return pools;
    }

    NameEngine engine(String name) {
        return names.computeIfAbsent(name, n -> new NameEngine(this, n));
    }

    /** Returns the lease by which the thread owns the name, valid or not; null if there is none. */
    @Nullable
    ActiveLease ownedBy(Thread thread, String name) {
        NameEngine engine = names.get(name);
        ActiveLease lease = engine == null ? null : engine.current();
        return lease != null && thread.equals(lease.owner()) ? lease : null;
    }

    public LockState inspect(String name) {
        ensureOpen();
        StoreState state = await(store.inspect(name));
        Optional<ClientCard> card = await(events.cardOf(state.holder()));
        return new LockState(
                name,
                Optional.ofNullable(state.holder()),
                state.remainingMillis() == AcquireReply.Busy.NO_EXPIRY
                        ? Optional.empty()
                        : Optional.of(Duration.ofMillis(state.remainingMillis())),
                state.base() == 0 ? OptionalLong.empty() : OptionalLong.of(Hold.token(state.base(), 0)),
                state.waiting(),
                card);
    }

    public List<ClientCard> cards() {
        ensureOpen();
        return await(events.cards());
    }

    /**
     * Ends a hold on a name.
     *
     * @param holder the expected holder; null for whichever has the name
     */
    public ForcedRelease forceRelease(String name, @Nullable String holder) {
        return await(forceReleaseAsync(name, holder));
    }

    CompletionStage<ForcedRelease> forceReleaseAsync(String name, @Nullable String holder) {
        ensureOpen();
        NameEngine.Force force = engine(name).beginForce(holder);
        return force == null
                ? forceReleaseAsync(name, holder)
                : store.forceRelease(name, holder)
                        .whenComplete((reply, error) -> force.onEnded(error == null && reply.isEnded()))
                        .thenCompose(reply -> described(
                                name,
                                reply,
                                "The lock " + Quoted.name(name)
                                        + " was released by force through this client; it was held by "));
    }

    /** @param happened what happened if a hold was ended, for the log; the holder follows */
    CompletionStage<ForcedRelease> described(String name, ForceReply reply, String happened) {
        if (reply instanceof ForceReply.Ended ended) {
            return described(name, ForcedRelease.Outcome.ENDED, ended.holder()).thenApply(release -> {
                // The next holder may harm what the last one still works on, so the log says who that was.
                Log.LOG.log(
                        System.Logger.Level.INFO,
                        happened
                                + Quoted.holder(ended.holder())
                                + release.holderCard()
                                        .map(card -> ", " + card.title())
                                        .orElse(""));
                return release;
            });
        }
        return reply instanceof ForceReply.HeldBy other
                ? described(name, ForcedRelease.Outcome.HELD_BY_ANOTHER, other.holder())
                : CompletableFuture.completedFuture(
                        new ForcedRelease(name, ForcedRelease.Outcome.FREE, Optional.empty(), Optional.empty()));
    }

    private CompletionStage<ForcedRelease> described(String name, ForcedRelease.Outcome outcome, String holder) {
        return events.cardOf(holder).thenApply(card -> new ForcedRelease(name, outcome, Optional.of(holder), card));
    }

    public StoreHealth storeHealth() {
        ensureOpen();
        return await(store.health(HEALTH_NAME));
    }

    public List<Finding> diagnose(String name) {
        ensureOpen();
        return await(store.diagnose(name));
    }

    /** Returns the delay of the most overdue renewal, or zero. */
    public Duration renewalLag() {
        return Duration.ofNanos(Math.max(
                pools.renewalLagNanos(),
                names.values().stream()
                        .mapToLong(NameEngine::renewalLagNanos)
                        .max()
                        .orElse(0)));
    }

    /** Returns the names in use here, sorted; one entry for each lease and each wait of permits. */
    public List<LocalLock> localLocks() {
        List<LocalLock> locks = new ArrayList<>();
        visit((at, lease, first, waiting, holder) -> {
            long now = settings.time.nanoTime();
            locks.add(new LocalLock(
                    at.shownName(),
                    Optional.ofNullable(lease).map(ActiveLease::asSeen),
                    Duration.ofNanos(lease == null ? 0 : now - lease.grantedNanos),
                    waiting,
                    Duration.ofNanos(first == null ? 0 : now - first.arrivedNanos)));
        });
        locks.sort(Comparator.comparing(LocalLock::name));
        return locks;
    }

    /**
     * Shows all names that somebody here holds or waits for, one after the other, and after them the permits: each lease
     * and each wait of them.
     */
    public void visit(NameVisitor visitor) {
        names.values().forEach(name -> name.visit(visitor));
        pools.visit(visitor);
    }

    /**
     * Shows the names with waiters here, those of pools, too. Takes no lock of any other name, because few have waiters;
     * so a wait that has just begun may be missing.
     */
    public void visitWaits(NameVisitor visitor) {
        names.values().forEach(name -> name.visitWaits(visitor));
        pools.visitWaits(visitor);
    }

    /** Returns a stage that completes when the engine has been closed, and that only the engine can complete. */
    public CompletionStage<@Nullable Void> whenClosed() {
        return closed.minimalCompletionStage();
    }

    /**
     * Ends everything; completes when the store has confirmed all releases. The holds of work that may go on are not
     * released: see {@link ActiveLease#isUsedAfterCloseBy}.
     */
    public CompletionStage<Void> closeAsync() {
        CompletableFuture<Void> done = new CompletableFuture<>();
        if (!closing.compareAndSet(null, done)) {
            return requireNonNull(closing.get());
        }
        Thread closer = Thread.currentThread();
        CompletionStage<Void> first = pools.closeAsync(closer);
        names.values().forEach(name -> name.handle(state -> state.onClosed(closed(), closer)));
        retention.close();
        CompletionStage<Void> unobserved = events.close();
        compensation
                .whenIdle()
                .thenCombine(first, (locks, permits) -> true)
                .whenComplete((nothing, error) -> unobserved.whenComplete((gone, failed) -> done.complete(null)));
        return done;
    }

    public void close() {
        // An interrupt, which is often the reason to close, does not end this: holds would stay at the store for the
        // rest of their leases.
        StageWait.awaitUninterruptibly(closeAsync(), CLOSE_AT_MOST);
        if (storeClosed.compareAndSet(false, true)) {
            pools.compensation.close(CLOSE_AT_MOST);
            compensation.close(CLOSE_AT_MOST);
            store.close();
            callbacks.close();
            closed.complete(null);
        }
    }

    // --- for the names ---

    /** Passes an event to a name. Returns false if the name is not in use here. */
    private boolean handle(String name, Consumer<NameState> event) {
        NameEngine engine = names.get(name);
        if (engine == null) {
            return false;
        }
        engine.handle(event);
        return true;
    }

    @Override
    boolean handle(String name, String holderId, Consumer<NameState> event) {
        return handle(name, event);
    }

    @Override
    void retire(NameEngine engine) {
        names.remove(engine.name(), engine);
    }

    /** Returns how many names have state here, those of pools, too. For descriptions of the client, and tests. */
    public int size() {
        return names.size() + pools.size();
    }

    @Override
    public boolean isClosed() {
        return closing.get() != null;
    }

    public void ensureOpen() {
        if (isClosed()) {
            throw closed();
        }
    }

    /** Returns what a call throws on a closed client. */
    public LockClientClosedException closed() {
        return new LockClientClosedException("This LockClient (" + store.describe() + ") is closed");
    }

    /** Passes the store's messages about locks on. */
    private final class Messages extends HolderMessages {

        @Override
        public void released(String name) {
            handle(name, state -> state.contention().onHint());
        }

        @Override
        public void connecting() {
            numbers.beginAnew();
        }

        @Override
        public void reconnected() {
            // A late store knows this time since it was opened.
            settings.patience.check(store);
            names.values()
                    .forEach(name -> name.handle(state -> state.contention().onHint()));
            // A store that was opened late does not know its pools yet.
            pools.askAll();
            events.reconnected();
        }
    }
}
