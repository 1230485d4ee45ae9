package io.holdfast.store;

import static java.util.Objects.requireNonNull;

import io.holdfast.LockStoreException;
import io.holdfast.log.Log;
import io.holdfast.spi.DaemonThreads;
import io.holdfast.spi.LockStore;
import io.holdfast.spi.StoreContext;
import io.holdfast.spi.StoreException;
import io.holdfast.spi.StoreListener;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * A client's store, or why it is not open yet. While it is not, each command starts a background attempt to open it, at
 * most one a second. Without commands there are no attempts; a client that writes cards sends one every few seconds.
 *
 * <p>Invariant: a command goes to the opened store or to none; so before that store is known, no holder id is anywhere.
 */
public final class StoreOpening {

    private static final long PAUSE_NANOS = TimeUnit.SECONDS.toNanos(1);

    private final Function<? super StoreContext, ? extends LockStore> opener;
    private final StoreContext context;
    private final ReentrantLock lock = new ReentrantLock();

    /** Set once: at first, or under the lock after the listener was registered with the store. */
    private volatile @Nullable LockStore opened;

    private volatile @Nullable StoreListener listener;
    private @Nullable Throwable why; // by lock; set while there is no store
    private long triedAt; // by lock
    private boolean opening; // by lock
    private boolean closed; // by lock

    private StoreOpening(Function<? super StoreContext, ? extends LockStore> opener, StoreContext context) {
        this.opener = opener;
        this.context = context;
        this.triedAt = context.time().nanoTime();
    }

    /**
     * Opens a store.
     *
     * @param late whether one that cannot be reached is to be opened later
     * @throws LockStoreException if it cannot be reached, and is not to be opened later
     */
    public static StoreOpening of(
            Function<? super StoreContext, ? extends LockStore> opener, StoreContext context, boolean late) {
        StoreOpening result = new StoreOpening(opener, context);
        try {
            result.opened = Stores.open(opener, context);
        } catch (LockStoreException e) {
            if (!late) {
                throw e;
            }
            Log.LOG.log(
                    System.Logger.Level.WARNING,
                    "The client starts without its store, and calls fail until it can be opened: {0}",
                    e.getMessage());
            result.why = e;
        }
        return result;
    }

    /** Returns the store if it is open, and starts no attempt. */
    public @Nullable LockStore ifOpen() {
        return opened;
    }

    /**
     * Returns the store. If it is not open, starts an attempt to open it.
     *
     * @throws StoreException if it is not open; the command was not executed
     */
    public LockStore get() {
        LockStore store = opened;
        return store != null ? store : tried();
    }

    private LockStore tried() {
        lock.lock();
        try {
            long now = context.time().nanoTime();
            if (opened != null) {
                return opened;
            }
            if (!opening && !closed && now - triedAt >= PAUSE_NANOS) {
                opening = true;
                triedAt = now;
                // A thread of its own: opening blocks.
                DaemonThreads.unstarted("holdfast-open", this::open).start();
            }
            throw new StoreException(
                    StoreException.Outcome.NOT_EXECUTED,
                    "The store could not be opened yet: " + requireNonNull(why).getMessage(),
                    why);
        } finally {
            lock.unlock();
        }
    }

    private void open() {
        StoreListener receiver = requireNonNull(listener, "listen() comes before all commands");
        LockStore store = null;
        Throwable failure = null;
        try {
            store = opener.apply(context);
            store.listen(receiver);
        } catch (Throwable e) {
            // Even an Error, such as a missing class: without an end of this try there would never be another one.
            failure = e;
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
        receiver.reconnected();
    }

    public void listen(StoreListener listener) {
        this.listener = listener;
        if (opened != null) {
            opened.listen(listener);
        }
    }

    public void close() {
        lock.lock();
        try {
            closed = true;
        } finally {
            lock.unlock();
        }
        if (opened != null) {
            opened.close();
        }
    }
}
