package io.holdfast.engine;

import static java.util.Objects.requireNonNull;

import io.holdfast.spi.LockStore;
import io.holdfast.spi.StoreException;
import io.holdfast.spi.StoreListener;
import io.holdfast.store.StoreOpening;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/** The pools of a client's store, found when the first command comes. */
final class PoolStore extends GuardedStore {

    private final StoreOpening opening;
    private final ReentrantLock lock = new ReentrantLock();

    /** Set once, under the lock, after the listener was registered with it. */
    private volatile @Nullable LockStore view;

    private volatile @Nullable StoreListener listener;

    PoolStore(StoreOpening opening, LockEvents events) {
        super(opening, events);
        this.opening = opening;
    }

    @Override
    LockStore get() {
        LockStore found = view;
        return found != null ? found : find(opening.get());
    }

    @Override
    @Nullable
    LockStore ifOpen() {
        LockStore open = opening.ifOpen();
        LockStore found = view;
        return found != null || open == null || open.pools().isEmpty() ? found : find(open);
    }

    private LockStore find(LockStore open) {
        lock.lock();
        try {
            LockStore found = view;
            if (found == null) {
                found = open.pools()
                        .orElseThrow(() -> new StoreException(
                                StoreException.Outcome.FATAL,
                                open.describe()
                                        + " has no permits and no read-write locks (expected: Redis in mode lua,"
                                        + " ZooKeeper, a database, or memory)",
                                null));
                found.listen(requireNonNull(listener, "listen() comes before all commands"));
                view = found;
            }
            return found;
        } finally {
            lock.unlock();
        }
    }

    @Override
    String shown(String name) {
        return PoolRequest.shown(name);
    }

    @Override
    public void listen(StoreListener receiver) {
        listener = receiver;
    }

    /** Does nothing: the store is closed by the engine of the locks. */
    @Override
    public void close() {}
}
