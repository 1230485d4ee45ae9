package io.holdfast.engine;

import io.holdfast.spi.HolderId;
import io.holdfast.spi.LockStore;
import io.holdfast.spi.PushedGrant;
import io.holdfast.spi.StageWait;
import io.holdfast.spi.StoreListener;
import io.holdfast.spi.TimeSource;
import io.holdfast.store.StoreErrors;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.LongSupplier;

/**
 * What the names of an engine use. A client has two engines at most: {@link Engine} for its locks, and {@link
 * PoolEngine} for its pools.
 */
public abstract class EngineParts {

    // What the engines of a client share:

    public final EngineSettings settings;
    public final Callbacks callbacks;
    public final LockEvents events;
    final LostHolds lostHolds;

    /** Shared, so that two holds of a client never have one holder id. */
    final AcquisitionNumbers numbers;

    // What each engine has:

    public final LockStore store;
    final RenewalTimer renewals;
    final Upkeep upkeep;
    final Compensation compensation;
    final KeptHolds retention;

    /** Makes the engine of the locks, with the parts that are shared. */
    EngineParts(
            EngineSettings settings,
            LostHolds lostHolds,
            Function<EngineParts, LockEvents> observers,
            Function<LockEvents, LockStore> store) {
        this.settings = settings;
        this.lostHolds = lostHolds;
        this.callbacks = new Callbacks(settings);
        this.numbers = new AcquisitionNumbers(settings.freshBits);
        this.events = observers.apply(this);
        this.store = store.apply(events);
        this.renewals = new RenewalTimer(this.store, settings, events);
        this.upkeep = new Upkeep(settings);
        this.compensation = new Compensation(this.store, settings, false);
        this.retention = new KeptHolds(this.store, compensation, settings.time);
    }

    /** Makes an engine beside another one. */
    EngineParts(EngineParts shared, LockStore store) {
        this.settings = shared.settings;
        this.lostHolds = shared.lostHolds;
        this.callbacks = shared.callbacks;
        this.numbers = shared.numbers;
        this.events = shared.events;
        this.store = store;
        this.renewals = new RenewalTimer(store, settings, events);
        this.upkeep = shared.upkeep;
        this.compensation = new Compensation(store, settings, true);
        this.retention = new KeptHolds(store, compensation, settings.time);
    }

    public abstract boolean isClosed();

    /** Passes an event of a holder id to its name. Returns false if the name is not in use here. */
    abstract boolean handle(String name, String holderId, Consumer<NameState> event);

    /** Passes news of a holder id to its name. Withdraws the id if the name is not in use here. */
    final void handle(String name, String holderId, long leaseNanos, Consumer<NameState> event) {
        if (!handle(name, holderId, event)) {
            compensation.abandon(name, holderId, leaseNanos);
        }
    }

    /** Forgets a name that nobody here needs any more. Called under its lock. */
    abstract void retire(NameEngine name);

    /**
     * Looks once more for what a failed acquire took, when that command can no longer be executed: until then it may be
     * executed after its id was withdrawn, or after its hold was released. A close does not wait for this look: after
     * it, such a hold ends with its lease.
     */
    final TimeSource.Timer watchForLate(String name, String holderId, long leaseNanos) {
        return settings.time.schedule(store.lateness().toNanos(), () -> {
            if (!isClosed()) {
                handle(name, holderId, leaseNanos, state -> state.onLateAcquiresOver(holderId, leaseNanos));
            }
        });
    }

    /** Waits for the store's answer, which its command timeout bounds. */
    final <T> T await(CompletionStage<T> reply) {
        try {
            return StageWait.join(reply);
        } catch (CompletionException e) {
            throw StoreErrors.toUser(StoreErrors.of(e), store.describe());
        }
    }

    /** Passes the store's messages about holder ids to their names. */
    abstract class HolderMessages implements StoreListener {

        @Override
        public void granted(String name, String holderId) {
            onGranted(name, holderId, state -> state.onPushed(holderId));
        }

        @Override
        public void granted(PushedGrant grant) {
            onGranted(grant.name(), grant.holderId(), state -> state.onPushed(grant));
        }

        private void onGranted(String name, String holderId, Consumer<NameState> event) {
            if (isOwn(holderId)) {
                handle(name, holderId, settings.leaseNanos, event);
            }
        }

        /** Returns whether a grant of this id may be used: this process made it since its last connection. */
        private boolean isOwn(String holderId) {
            // Other ids belong to a process from the same image, which has the same channel, or are withdrawn by now.
            // An id of another client comes from somebody who may publish. To withdraw it would end that client's hold.
            return HolderId.client(holderId).equals(settings.clientId) && numbers.isCurrent(HolderId.number(holderId));
        }

        @Override
        public void contended(String name, String holderId) {
            handle(name, holderId, state -> state.tenure.onContended(holderId));
        }

        @Override
        public void forced(String name, String holderId) {
            handle(name, holderId, state -> state.tenure.onForceHint(holderId));
        }

        @Override
        public void lost(String name, String holderId) {
            handle(name, holderId, state -> state.tenure.onLost(holderId));
        }
    }

    /**
     * The numbers of a client's acquisitions, which are part of its holder ids. Thread-safe.
     *
     * <p>Invariant: two processes from one image never own a name under one holder id that was requested after their new
     * connections were made. Both have the client id and the numbers of the image. So the numbers begin again, at a random
     * place, before a new connection takes commands; an attempt with an older number is not sent again, and its
     * grant is not used.
     */
    static final class AcquisitionNumbers {

        /** The number of random places: two processes almost never have the same, and there is room to count on. */
        private static final long STARTS = 1L << 62;

        /** The numbers since the last new connection: from {@code first} to {@code last}. */
        private record Range(long first, AtomicLong last) {

            static Range from(long first) {
                return new Range(first, new AtomicLong(first - 1));
            }
        }

        private final LongSupplier freshBits;
        private volatile Range range = Range.from(1);

        AcquisitionNumbers(LongSupplier freshBits) {
            this.freshBits = freshBits;
        }

        long next() {
            return range.last.incrementAndGet();
        }

        /** Returns whether this process has made the number since the last new connection. */
        boolean isCurrent(long number) {
            Range current = range;
            return number >= current.first && number <= current.last.get();
        }

        /** Called while a new connection is made. */
        void beginAnew() {
            range = Range.from(1 + (freshBits.getAsLong() & (STARTS - 1)));
        }
    }
}
