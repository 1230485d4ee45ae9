package io.holdfast.engine;

import io.holdfast.Inside;
import io.holdfast.LeaderBug;
import io.holdfast.Lease;
import io.holdfast.LockClient;
import io.holdfast.LockOptions;
import io.holdfast.Permits;
import io.holdfast.spi.ClockReading;
import io.holdfast.spi.PushedGrant;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Opens to the simulations what the engine keeps to its package: the steps of a waiting thread and of a thread that
 * owns a lock, what a lease knows of itself, and what a client still remembers. Each method calls one of the engine's,
 * and decides nothing.
 */
public final class VerifyEngine {

    private VerifyEngine() {}

    /** The engine's arithmetic of validity, and seeded bugs in it. */
    public enum Rules {
        RIGHT(new LeaseRules()),
        VALIDITY_COUNTED_FROM_THE_REPLY(new LeaseRules() {
            @Override
            Deadline deadline(ClockReading sent, ClockReading replied, long leaseNanos) {
                return super.deadline(replied, replied, leaseNanos);
            }
        }),
        PUSHED_GRANT_COUNTED_FROM_ITS_MESSAGE(new LeaseRules() {
            @Override
            Deadline pushedDeadline(ClockReading asked, long sinceAskingNanos, ClockReading heard, long leaseNanos) {
                return deadline(heard, heard, leaseNanos);
            }
        }),
        RENEWAL_COUNTS_AFTER_THE_DEADLINE(new LeaseRules() {
            @Override
            boolean renewalCounts(Deadline old, ClockReading now) {
                return true;
            }
        }),
        GRANTS_ARE_BELIEVED_WITHOUT_THEIR_NONCE(new LeaseRules() {
            @Override
            boolean isFromStore(PushedGrant grant, long nonce) {
                return true;
            }
        });

        @SuppressWarnings("ImmutableEnumChecker") // no rules have state
        private final LeaseRules rules;

        Rules(LeaseRules rules) {
            this.rules = rules;
        }
    }

    /** Opens a client in which nothing is left to chance. */
    public static LockClient open(
            LockClient.Builder builder,
            String clientId,
            SplittableRandom random,
            Rules rules,
            PoolBug poolBug,
            Predicate<Thread> isAlive,
            long pollNanos) {
        return Inside.settings(builder, settings -> {
                    settings.clientId = clientId;
                    settings.random = random::nextLong;
                    settings.freshBits = random::nextLong;
                    settings.nonces = random::nextLong;
                    settings.rules = rules.rules;
                    settings.pools = poolBug.engines();
                    settings.isAlive = isAlive;
                    settings.pollNanos = pollNanos;
                })
                .build();
    }

    /** What the client remembers of locks; empty if that is nothing. */
    public static String left(LockClient client) {
        Engine engine = Inside.engine(client);
        int names = engine.size();
        PoolEngine pools = engine.pools();
        int holds = engine.renewals.size() + pools.renewals.size();
        int compensations = engine.compensation.pending() + pools.compensation.pending();
        int lanes = pools.lanes();
        return names + holds + compensations + lanes == 0
                ? ""
                : names + " names, " + holds + " holds, " + compensations + " compensations, " + lanes + " lanes";
    }

    /** Begins to close the client, as its {@code close()} does that waits for the end. */
    public static void close(LockClient client, LeaderBug bug) {
        Engine engine = Inside.engine(client);
        if (bug == LeaderBug.CLIENT_IS_CLOSED_FIRST) {
            var unused = engine.closeAsync();
        }
        CompletableFuture<Void> all = Inside.closeLeaderships(client);
        if (!all.isDone()) {
            long patience = engine.settings.leaseNanos / 3 + Inside.RELEASE_NANOS;
            engine.settings.time.schedule(patience, () -> all.complete(null));
        }
        var unused = all.whenComplete((nothing, error) -> engine.closeAsync());
    }

    /** Asks for a lock as a thread that does not own it. */
    public static WaitingThread submit(LockClient client, String name, LockOptions options) {
        return new WaitingThread(Inside.engine(client).submit(name, options, Waiter.Mode.PATIENT));
    }

    /** Asks for permits as a thread. */
    public static WaitingThread submit(LockClient client, Permits permits, LockOptions options) {
        PoolRequest wanted = PoolRequest.permit(permits.name(), permits.limit()).weighing(permits.weight());
        return new WaitingThread(Inside.engine(client).pools().submit(wanted, options, Waiter.Mode.PATIENT, false));
    }

    /** Asks to read or to write, as a thread that does not own the lease. */
    public static WaitingThread submitShare(LockClient client, String name, boolean isWrite, LockOptions options) {
        PoolRequest wanted = isWrite ? PoolRequest.writing(name) : PoolRequest.reading(name);
        return new WaitingThread(Inside.engine(client).pools().submit(wanted, options, Waiter.Mode.PATIENT, false));
    }

    /** The engine's own lease behind the one that a user has. */
    public static Lease active(Lease lease) {
        return LeaseHandle.active(lease);
    }

    /** As {@link Lease#isValid}, but the engine does not learn of it. */
    public static boolean isHeld(Lease lease) {
        return LeaseHandle.active(lease).isHeldNow();
    }

    public static boolean hasEnded(Lease lease) {
        return LeaseHandle.active(lease).hasEnded();
    }

    /** How often the owner thread has the lease, valid or not. */
    public static int count(Lease lease) {
        return LeaseHandle.active(lease).holds().count;
    }

    /** The steps of a {@link Waiter} whose thread is simulated. */
    public static final class WaitingThread {
        private final Waiter waiter;

        private WaitingThread(Waiter waiter) {
            this.waiter = waiter;
        }

        public boolean isRunnable() {
            return waiter.isRunnable();
        }

        public boolean isDone() {
            return waiter.isDone();
        }

        public void claim() {
            waiter.claim();
        }

        public boolean withdraw() {
            return waiter.withdraw();
        }

        public Lease leaseOrThrow() {
            return waiter.leaseOrThrow();
        }
    }

    /**
     * The steps of a {@link ThreadLock} whose threads are simulated; and what a subclass needs to take them wrongly.
     */
    public static class OwnedLock {
        private final Engine engine;
        private final ThreadLock lock;

        public OwnedLock(LockClient client, String name) {
            engine = Inside.engine(client);
            lock = new ThreadLock(() -> engine, name);
        }

        public @Nullable Lease ownedBy(Thread thread) {
            return lock.ownedBy(thread);
        }

        public boolean enterAgain(Thread thread) {
            return lock.enterAgain(thread);
        }

        public WaitingThread submit(LockOptions options, Thread thread) {
            return new WaitingThread(lock.submit(options, Waiter.Mode.PATIENT, thread));
        }

        public @Nullable Lease leave(Thread thread) {
            return lock.leave(thread);
        }

        public int holdCount(Thread thread) {
            return lock.holdCount(thread);
        }

        public long fencingToken(Thread thread) {
            return lock.fencingToken(thread);
        }

        /** The valid lease that some thread owns. */
        protected Optional<Lease> ownedByAny() {
            return engine.localLocks().stream()
                    .filter(local -> local.name().equals(lock.name()))
                    .flatMap(local -> local.lease().stream())
                    .filter(lease -> LeaseHandle.active(lease).owner() != null && isHeld(lease))
                    .map(VerifyEngine::active)
                    .findFirst();
        }

        protected @Nullable Thread owner(Lease lease) {
            return LeaseHandle.active(lease).owner();
        }

        protected void setCount(Lease lease, int count) {
            LeaseHandle.active(lease).holds().count = count;
        }

        /** Takes one hold on a lost lease away; false if the thread has none. */
        protected boolean forgetLoss(Thread thread) {
            return engine.lostHolds.unlockBy(thread, lock.name()) != null;
        }
    }

    /** The steps of the threads of a read-write lock; and what a subclass needs to take them wrongly. */
    public static class OwnedShares {
        private final Engine engine;
        private final PoolRequest share;
        private final ThreadLock read;
        private final ThreadLock write;

        public OwnedShares(LockClient client, String name) {
            engine = Inside.engine(client);
            ThreadReadWriteLock lock = new ThreadReadWriteLock(() -> engine, name);
            share = PoolRequest.reading(name);
            read = (ThreadLock) lock.readLock();
            write = (ThreadLock) lock.writeLock();
        }

        private ThreadLock half(boolean isWrite) {
            return isWrite ? write : read;
        }

        public boolean enterAgain(boolean isWrite, Thread thread) {
            return half(isWrite).enterAgain(thread);
        }

        public WaitingThread submit(boolean isWrite, LockOptions options, Thread thread) {
            return new WaitingThread(half(isWrite).submit(options, Waiter.Mode.PATIENT, thread));
        }

        public @Nullable Lease leave(boolean isWrite, Thread thread) {
            return half(isWrite).leave(thread);
        }

        /** The lease by which the thread has a share. */
        @Nullable
        ActiveLease shareOf(Thread thread) {
            return engine.pools().ownedBy(thread, share.storedName());
        }
    }
}
