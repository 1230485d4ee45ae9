package io.holdfast.engine;

import static java.util.Objects.requireNonNull;

import io.holdfast.LockStoreException;
import io.holdfast.spi.AcquireAllReply;
import io.holdfast.spi.AcquireReply;
import io.holdfast.spi.AcquireRequest;
import io.holdfast.spi.CardStore;
import io.holdfast.spi.DaemonThreads;
import io.holdfast.spi.Finding;
import io.holdfast.spi.ForceReply;
import io.holdfast.spi.LockStore;
import io.holdfast.spi.ReleaseReply;
import io.holdfast.spi.ReleaseRequest;
import io.holdfast.spi.RenewAnswers;
import io.holdfast.spi.RenewReply;
import io.holdfast.spi.RenewRequest;
import io.holdfast.spi.StoreContext;
import io.holdfast.spi.StoreException;
import io.holdfast.spi.StoreHealth;
import io.holdfast.spi.StoreListener;
import io.holdfast.spi.StoreState;
import io.holdfast.spi.StoredCard;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * A store that could not be reached when its client was opened. Until it can, every command fails, certainly not
 * executed, and starts a background attempt to open the store, at most one a second. Without calls there are no
 * attempts; a client that writes cards makes one every few seconds.
 *
 * <p>Invariant: a command goes to the opened store or to none; so before that store is known, no holder id is anywhere.
 */
public final class LateStore implements LockStore {

    private static final long PAUSE_NANOS = TimeUnit.SECONDS.toNanos(1);

    private final Function<? super StoreContext, ? extends LockStore> opener;
    private final StoreContext context;
    private final ReentrantLock lock = new ReentrantLock();

    /** Set once, under the lock, after the listener was registered with the store. */
    private volatile @Nullable LockStore opened;

    private @Nullable StoreListener listener; // by lock
    private Throwable why; // by lock
    private long triedAt; // by lock
    private boolean opening; // by lock
    private boolean closed; // by lock

    private LateStore(Function<? super StoreContext, ? extends LockStore> opener, StoreContext context, Throwable why) {
        this.opener = opener;
        this.context = context;
        this.why = why;
        this.triedAt = context.time().nanoTime();
    }

    /** Returns an opener that returns a late store if the store cannot be reached. */
    public static Function<StoreContext, LockStore> opener(Function<? super StoreContext, ? extends LockStore> opener) {
        return context -> {
            try {
                return opener.apply(context);
            } catch (StoreException | LockStoreException e) {
                // An opener by URI has made the second of the first.
                Log.LOG.log(
                        System.Logger.Level.WARNING,
                        "The client starts without its store, and calls fail until it can be opened: {0}",
                        e.getMessage());
                return new LateStore(opener, context, cause(e));
            }
        };
    }

    private static Throwable cause(Throwable error) {
        return error instanceof LockStoreException && error.getCause() instanceof StoreException why ? why : error;
    }

    /** Returns the store; if it is not there, starts an attempt to open it and returns null. */
    private @Nullable LockStore store() {
        LockStore store = opened;
        if (store == null) {
            lock.lock();
            try {
                long now = context.time().nanoTime();
                if (opened == null && !opening && !closed && now - triedAt >= PAUSE_NANOS) {
                    opening = true;
                    triedAt = now;
                    // A thread of its own: opening blocks.
                    DaemonThreads.unstarted("holdfast-open", this::open).start();
                }
                store = opened;
            } finally {
                lock.unlock();
            }
        }
        return store;
    }

    private void open() {
        LockStore store = null;
        Throwable failure = null;
        try {
            store = opener.apply(context);
            store.listen(receiver());
        } catch (Throwable e) {
            // Even an Error, such as a missing class: without an end of this try there would never be another one.
            failure = cause(e);
        }
        boolean unwanted;
        lock.lock();
        try {
            opening = false;
            unwanted = closed || failure != null;
            if (failure != null) {
                why = failure;
            } else if (!closed) {
                opened = store;
            }
        } finally {
            lock.unlock();
        }
        if (store == null) {
            return;
        }
        if (unwanted) {
            store.close();
            return;
        }
        Log.LOG.log(System.Logger.Level.INFO, "The store {0} is open", store.describe());
        // Every waiter asks now.
        receiver().reconnected();
    }

    private StoreListener receiver() {
        lock.lock();
        try {
            return requireNonNull(listener, "listen() comes before all commands");
        } finally {
            lock.unlock();
        }
    }

    private StoreException absent() {
        lock.lock();
        try {
            return new StoreException(
                    StoreException.Outcome.NOT_EXECUTED, "The store could not be opened yet: " + why.getMessage(), why);
        } finally {
            lock.unlock();
        }
    }

    private <T> CompletionStage<T> send(Function<LockStore, CompletionStage<T>> command) {
        LockStore store = store();
        return store != null ? command.apply(store) : CompletableFuture.failedFuture(absent());
    }

    @Override
    public CompletionStage<AcquireReply> acquire(AcquireRequest request) {
        return send(store -> store.acquire(request));
    }

    @Override
    public boolean canAcquireAll(List<String> names) {
        LockStore store = store();
        return store != null && store.canAcquireAll(names);
    }

    @Override
    public CompletionStage<AcquireAllReply> acquireAll(List<AcquireRequest> requests) {
        return send(store -> store.acquireAll(requests));
    }

    @Override
    public CompletionStage<RenewReply> renew(RenewRequest request) {
        return send(store -> store.renew(request));
    }

    @Override
    public void renewAll(List<RenewRequest> requests, RenewAnswers answers) {
        LockStore store = store();
        if (store != null) {
            store.renewAll(requests, answers);
        } else {
            LockStore.super.renewAll(requests, answers);
        }
    }

    @Override
    public CompletionStage<ReleaseReply> release(ReleaseRequest request) {
        return send(store -> store.release(request));
    }

    /** Without a store there is nothing to withdraw, by the invariant. */
    @Override
    public CompletionStage<Boolean> abandon(String name, String holderId) {
        LockStore store = store();
        return store != null ? store.abandon(name, holderId) : CompletableFuture.completedFuture(false);
    }

    @Override
    public CompletionStage<StoreState> inspect(String name) {
        return send(store -> store.inspect(name));
    }

    @Override
    public CompletionStage<ForceReply> forceRelease(String name, @Nullable String holder) {
        return send(store -> store.forceRelease(name, holder));
    }

    @Override
    public Duration lateness() {
        LockStore store = opened;
        return store != null ? store.lateness() : LockStore.super.lateness();
    }

    @Override
    public Duration recovery() {
        LockStore store = opened;
        return store != null ? store.recovery() : LockStore.super.recovery();
    }

    @Override
    public CompletionStage<StoreHealth> health(String name) {
        return send(store -> store.health(name));
    }

    /** Keeps no card before the store is open, and then as the store does. */
    @Override
    public Optional<CardStore> cards() {
        return Optional.of(new CardStore() {

            private <T> CompletionStage<T> sendToCards(Function<CardStore, CompletionStage<T>> command) {
                return send(store -> store.cards()
                        .map(command)
                        .orElseGet(() -> CompletableFuture.failedFuture(new StoreException(
                                StoreException.Outcome.FATAL, store.describe() + " keeps no cards", null))));
            }

            @Override
            public CompletionStage<Integer> write(String text, Duration keep) {
                return sendToCards(cards -> cards.write(text, keep));
            }

            @Override
            public CompletionStage<Boolean> keep(Duration keep) {
                return sendToCards(cards -> cards.keep(keep));
            }

            @Override
            public CompletionStage<List<StoredCard>> read() {
                return sendToCards(CardStore::read);
            }

            @Override
            public CompletionStage<Optional<StoredCard>> read(String clientId) {
                return sendToCards(cards -> cards.read(clientId));
            }

            @Override
            public CompletionStage<Void> remove() {
                return sendToCards(CardStore::remove);
            }
        });
    }

    @Override
    public CompletionStage<List<Finding>> diagnose(String name) {
        return send(store -> store.diagnose(name));
    }

    @Override
    public void listen(StoreListener listener) {
        lock.lock();
        try {
            this.listener = listener;
        } finally {
            lock.unlock();
        }
    }

    @Override
    public String describe() {
        LockStore store = opened;
        return store != null ? store.describe() : "a store that could not be opened yet";
    }

    @Override
    public void leave(String name, String holderId, BooleanSupplier inUse) {
        LockStore store = opened;
        if (store != null) {
            store.leave(name, holderId, inUse);
        }
    }

    @Override
    public void close() {
        LockStore store;
        lock.lock();
        try {
            closed = true;
            store = opened;
        } finally {
            lock.unlock();
        }
        if (store != null) {
            store.close();
        }
    }
}
