package io.holdfast;

import static java.util.Objects.requireNonNull;

import io.holdfast.spi.AcquireReply;
import io.holdfast.spi.HolderId;
import io.holdfast.spi.LockStore;
import io.holdfast.spi.PushedGrant;
import io.holdfast.spi.StoreHealth;
import io.holdfast.spi.StoreListener;
import io.holdfast.spi.StoreState;
import io.holdfast.spi.TimeSource;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** All names of one client: finds the {@link NameEngine} for an event, and holds what they share. */
final class Engine {

    /** A name that nobody locks. */
    private static final String HEALTH_NAME = "holdfast:health";

    /** How long close() waits for the store to confirm releases. */
    private static final Duration CLOSE_AT_MOST = Duration.ofSeconds(2);

    private final LockStore store;
    private final EngineSettings settings;
    private final Callbacks callbacks;
    private final RenewalTimer renewals;
    private final Compensation compensation;
    private final Retention retention;
    private final Incidents incidents;
    private final LongWaits longWaits;
    private final LostHolds lostHolds = new LostHolds();
    private final ForeignHolders foreignHolders;
    private final ConcurrentMap<String, NameEngine> names = new ConcurrentHashMap<>();
    private final AcquisitionNumbers numbers;
    private final AtomicReference<@Nullable CompletableFuture<Void>> closing = new AtomicReference<>();
    private final AtomicBoolean storeClosed = new AtomicBoolean();

    Engine(LockStore store, EngineSettings settings) {
        this.store = new GuardedStore(store);
        this.settings = settings;
        this.numbers = new AcquisitionNumbers(settings.freshBits);
        this.callbacks = new Callbacks(settings.callbackExecutor, settings.listener);
        this.renewals = new RenewalTimer(this.store, settings);
        this.compensation = new Compensation(this.store, settings);
        this.foreignHolders = new ForeignHolders(settings.time);
        this.retention = new Retention(this.store, compensation, settings.time);
        this.incidents = new Incidents(this.store, settings);
        this.longWaits = new LongWaits(names.values(), settings.time);
        store.listen(new Messages());
    }

    /** Starts an acquisition for the calling thread to wait for. */
    Waiter submit(String name, LockOptions options, WaitMode mode, @Nullable Thread owner) {
        return submit(
                Limits.checkName(name),
                Waiter.blocking(requireNonNull(options, "options"), mode, owner, settings.time.nanoTime()));
    }

    /** Starts an acquisition that no thread waits for. */
    Waiter submitAsync(String name, LockOptions options, WaitMode mode) {
        return submit(
                Limits.checkName(name),
                Waiter.asynchronous(requireNonNull(options, "options"), mode, settings.time.nanoTime()));
    }

    private Waiter submit(String name, Waiter waiter) {
        while (true) {
            ensureOpen();
            NameEngine engine = engine(name);
            if (engine.submit(waiter)) {
                if (closing.get() != null) {
                    // close() may have passed over this name before it was there.
                    engine.close(closed());
                }
                return waiter;
            }
        }
    }

    /**
     * Starts an attempt to take several names by one command.
     *
     * @param wanted sorted, distinct
     * @return one waiter for each, in their order; empty if the store cannot, or one of the names is in use here
     */
    List<Waiter> submitTogether(List<String> wanted, Supplier<Waiter> waiters) {
        ensureOpen();
        if (wanted.size() < 2 || !store.canAcquireAll(wanted)) {
            return List.of();
        }
        List<Waiter> submitted = new MultiAttempt(this, wanted).submit(waiters);
        if (closing.get() != null) {
            // close() may have passed over a name before it was there.
            for (String name : wanted) {
                NameEngine here = names.get(name);
                if (here != null) {
                    here.close(closed());
                }
            }
        }
        return submitted;
    }

    NameEngine engine(String name) {
        return names.computeIfAbsent(name, n -> new NameEngine(this, n));
    }

    /** The lease with which the thread owns the name, valid or not; null if there is none. */
    @Nullable
    ActiveLease ownedBy(Thread thread, String name) {
        NameEngine engine = names.get(name);
        ActiveLease lease = engine == null ? null : engine.current();
        return lease != null && thread.equals(lease.owner) ? lease : null;
    }

    LockState inspect(String name) {
        ensureOpen();
        StoreState state = await(store.inspect(name));
        return new LockState(
                name,
                Optional.ofNullable(state.holder()),
                state.remainingMillis() == AcquireReply.Busy.NO_EXPIRY
                        ? Optional.empty()
                        : Optional.of(Duration.ofMillis(state.remainingMillis())),
                state.base() == 0 ? OptionalLong.empty() : OptionalLong.of(state.base() << 16),
                state.waiting());
    }

    boolean forceRelease(String name) {
        return await(forceReleaseAsync(name));
    }

    CompletionStage<Boolean> forceReleaseAsync(String name) {
        ensureOpen();
        NameEngine.Force begun = engine(name).forcing();
        while (begun == null) {
            begun = engine(name).forcing();
        }
        NameEngine.Force force = begun;
        return store.forceRelease(name).whenComplete((removed, error) -> force.ended(error == null && removed));
    }

    StoreHealth storeHealth() {
        ensureOpen();
        return await(store.health(HEALTH_NAME));
    }

    /** Of the renewal that is overdue for longest; zero if none is. */
    Duration renewalLag() {
        return Duration.ofNanos(names.values().stream()
                .mapToLong(NameEngine::renewalLagNanos)
                .max()
                .orElse(0));
    }

    /** Sorted by name. */
    List<LocalLock> localLocks() {
        List<LocalLock> locks = new ArrayList<>();
        for (NameEngine name : names.values()) {
            LocalLock view = name.view();
            if (view != null) {
                locks.add(view);
            }
        }
        locks.sort(Comparator.comparing(LocalLock::name));
        return locks;
    }

    /** Ends everything; completes when the store has confirmed all releases. */
    CompletionStage<Void> closeAsync() {
        CompletableFuture<Void> done = new CompletableFuture<>();
        if (!closing.compareAndSet(null, done)) {
            return requireNonNull(closing.get());
        }
        names.values().forEach(name -> name.close(closed()));
        retention.close();
        longWaits.close();
        foreignHolders.close();
        incidents.close();
        compensation.whenIdle().whenComplete((nothing, error) -> done.complete(null));
        return done;
    }

    void close() {
        // Not ended by an interrupt, which is why many close: what is held would stay at the store for the rest of its
        // lease.
        closeAsync()
                .toCompletableFuture()
                .copy()
                .completeOnTimeout(null, CLOSE_AT_MOST.toMillis(), TimeUnit.MILLISECONDS)
                .join();
        if (storeClosed.compareAndSet(false, true)) {
            compensation.close(CLOSE_AT_MOST);
            store.close();
            callbacks.close();
        }
    }

    // --- what the names share ---

    EngineSettings settings() {
        return settings;
    }

    LockStore store() {
        return store;
    }

    Callbacks callbacks() {
        return callbacks;
    }

    RenewalTimer renewals() {
        return renewals;
    }

    Compensation compensation() {
        return compensation;
    }

    Retention retention() {
        return retention;
    }

    Incidents incidents() {
        return incidents;
    }

    LongWaits longWaits() {
        return longWaits;
    }

    LostHolds lostHolds() {
        return lostHolds;
    }

    ForeignHolders foreignHolders() {
        return foreignHolders;
    }

    AcquisitionNumbers numbers() {
        return numbers;
    }

    /** Of the acquisition with this number. */
    String holderId(long acquisition) {
        return HolderId.of(settings.clientId, acquisition);
    }

    /**
     * A command to acquire failed, and may be executed after its id was withdrawn, or after its hold was released. So it is looked
     * for once more when that cannot happen any more. Not waited for by {@link #close}: then it ends with its lease.
     */
    TimeSource.Timer watchForLate(String name, String holderId, long leaseNanos) {
        return settings.time.schedule(store.lateness().toNanos(), () -> {
            NameEngine here = names.get(name);
            if (closing.get() != null) {
                return;
            }
            if (here != null) {
                here.unusedLate(holderId, leaseNanos);
            } else if (!retention.keeps(holderId)) {
                // An id in use has an engine, and no id is used again.
                compensation.abandon(name, holderId, leaseNanos);
            }
        });
    }

    void retire(NameEngine engine) {
        names.remove(engine.name(), engine);
    }

    /** For tests: how many names have state here. */
    int size() {
        return names.size();
    }

    boolean isClosed() {
        return closing.get() != null;
    }

    private void ensureOpen() {
        if (closing.get() != null) {
            throw closed();
        }
    }

    private LockClientClosedException closed() {
        return new LockClientClosedException("This LockClient (" + store.describe() + ") is closed");
    }

    /** For the calling thread; bounded by the store's command timeout. */
    private <T> T await(CompletionStage<T> reply) {
        try {
            return reply.toCompletableFuture().join();
        } catch (CompletionException e) {
            throw new LockStoreException(StoreErrors.of(e), store.describe());
        }
    }

    /** The store's messages, passed to the names they are about. */
    private final class Messages implements StoreListener {

        @Override
        public void granted(String name, String holderId) {
            granted(name, holderId, engine -> engine.pushedGrant(holderId));
        }

        @Override
        public void granted(PushedGrant grant) {
            granted(grant.name(), grant.holderId(), engine -> engine.pushedGrant(grant));
        }

        private void granted(String name, String holderId, Consumer<NameEngine> event) {
            if (!numbers.isCurrent(HolderId.number(holderId))) {
                // Of a process from the same image, which has the same channel; or an older one, which is withdrawn by
                // now.
                return;
            }
            NameEngine engine = names.get(name);
            if (engine != null) {
                event.accept(engine);
            } else if (!retention.keeps(holderId)) {
                // Nobody here waits for it (any more): do not let others wait for us.
                compensation.abandon(name, holderId, settings.leaseNanos);
            }
        }

        @Override
        public void contended(String name, String holderId) {
            NameEngine engine = names.get(name);
            if (engine != null) {
                engine.contended(holderId);
            }
        }

        @Override
        public void released(String name) {
            NameEngine engine = names.get(name);
            if (engine != null) {
                engine.hint();
            }
        }

        @Override
        public void lost(String name, String holderId) {
            NameEngine engine = names.get(name);
            if (engine != null) {
                engine.lost(holderId);
            }
        }

        @Override
        public void connecting() {
            numbers.beginAnew();
        }

        @Override
        public void reconnected() {
            names.values().forEach(NameEngine::hint);
        }
    }
}
