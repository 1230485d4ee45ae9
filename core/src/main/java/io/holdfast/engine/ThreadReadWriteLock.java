package io.holdfast.engine;

import io.holdfast.DistributedLock;
import io.holdfast.DistributedReadWriteLock;
import io.holdfast.ForcedRelease;
import io.holdfast.LockOptions;
import io.holdfast.ReadWriteState;
import io.holdfast.log.Quoted;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A name as a read-write lock whose halves threads own. Like {@link ThreadLock} it has no state.
 *
 * <p>A thread owns one lease of a name at most. If it has the write lock, its reads are counted on the lease of the
 * writer, {@link LeaseUser.Holds#reads}, which is released with the last of both. So a downgrade gives nothing back
 * while the thread reads, and no other writer comes in between.
 */
public final class ThreadReadWriteLock implements DistributedReadWriteLock {

    private final Supplier<Engine> engine;
    private final PoolRequest share;
    private final DistributedLock readLock;
    private final DistributedLock writeLock;

    /** @throws IllegalArgumentException if the name is refused */
    public ThreadReadWriteLock(Supplier<Engine> engine, String name) {
        this.engine = engine;
        this.share = PoolRequest.reading(name);
        this.readLock = new Half(engine, share, false);
        this.writeLock = new Half(engine, PoolRequest.writing(name), true);
    }

    @Override
    public String name() {
        return share.name();
    }

    @Override
    public DistributedLock readLock() {
        return readLock;
    }

    @Override
    public DistributedLock writeLock() {
        return writeLock;
    }

    @Override
    public ReadWriteState inspect() {
        return engine.get().pools().inspectShares(share);
    }

    @Override
    public ForcedRelease forceRelease(String holder) {
        return engine.get().pools().forceRelease(share, Limits.checkHolder(holder));
    }

    @Override
    public boolean forceReleaseAll() {
        return engine.get().pools().forceRelease(share, null).isEnded();
    }

    @Override
    public String toString() {
        return "DistributedReadWriteLock[" + Quoted.name(name()) + "]";
    }

    /** The read lock or the write lock. */
    private static final class Half extends ThreadLock {

        private final PoolRequest wanted;
        private final boolean isWrite;

        Half(Supplier<Engine> engine, PoolRequest wanted, boolean isWrite) {
            super(engine, wanted.name());
            this.wanted = wanted;
            this.isWrite = isWrite;
        }

        @Override
        public boolean isLocked() {
            return engine().pools().isHeld(wanted);
        }

        @Override
        public boolean forceUnlock() {
            return engine().pools().forceRelease(wanted, null).isEnded();
        }

        @Override
        public String toString() {
            return "DistributedLock[" + described() + "]";
        }

        @Override
        String described() {
            return wanted.toString();
        }

        // --- the steps of a thread ---

        /** Returns the lease by which the thread has any half of the name. */
        private @Nullable ActiveLease shareOf(Thread thread) {
            return engine().pools().ownedBy(thread, wanted.storedName());
        }

        /** Returns how often its owner took this half by the lease. */
        private int holdCount(ActiveLease share) {
            if (!share.isExclusive()) {
                return isWrite ? 0 : share.holdCount();
            }
            int reads = share.holds().reads;
            return isWrite ? share.holdCount() - reads : reads;
        }

        @Override
        @Nullable
        ActiveLease ownedBy(Thread thread) {
            ActiveLease share = shareOf(thread);
            return share != null && holdCount(share) > 0 ? share : null;
        }

        @Override
        boolean enterAgain(Thread thread) {
            ActiveLease share = shareOf(thread);
            if (share == null || !share.isValid() || (isWrite && holdCount(share) == 0)) {
                return false;
            }
            LeaseUser.Holds holds = share.holds();
            holds.takeAgain();
            if (!isWrite && share.isExclusive()) {
                holds.reads++;
            }
            return true;
        }

        /** The write lock waits for the end of all reads, those of its own thread, too. */
        @Override
        @Nullable
        IllegalStateException hopeless(Thread thread) {
            ActiveLease share = isWrite ? shareOf(thread) : null;
            if (share == null || !share.isValid()) {
                return null;
            }
            return new IllegalStateException("Thread " + Quoted.name(thread.getName())
                    + " would wait for itself without end: it holds the read lock " + Quoted.name(name())
                    + ", and the write lock waits for the end of all reads (expected: unlock the read lock before, or"
                    + " take the write lock first and read under it)");
        }

        @Override
        Waiter submit(LockOptions options, Waiter.Mode mode, Thread thread) {
            return engine().pools().submitOwned(wanted, options, mode, thread);
        }

        @Override
        @Nullable
        ActiveLease leave(Thread thread) {
            ActiveLease share = ownedBy(thread);
            if (share == null) {
                throw lostOrNotHeld(thread, engine().lostHolds.ofShares());
            }
            if (!isWrite && share.isExclusive()) {
                share.holds().reads--;
            }
            return giveBack(share);
        }

        @Override
        int holdCount(Thread thread) {
            ActiveLease share = ownedBy(thread);
            return share != null && share.isValid() ? holdCount(share) : 0;
        }
    }
}
