package io.holdfast.engine;

import io.holdfast.DistributedLock;
import io.holdfast.LeaseLostException;
import io.holdfast.LockOptions;
import io.holdfast.log.Quoted;
import io.holdfast.spi.DurationText;
import io.holdfast.spi.LockStore;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A name as a lock that threads own. It has no state: the lease that is out knows its thread and how often it was
 * taken, so that all lock objects for one name are the same lock.
 *
 * <p>The steps below decide what a thread owns. They get the thread as an argument and never wait. So a simulation can
 * take them for threads of its own, and replace one of them by a wrong one.
 */
public class ThreadLock implements DistributedLock {

    /** Gives the client's present engine: a reopened client has another one. */
    private final Supplier<Engine> engine;

    private final String name;

    /** @param name checked */
    public ThreadLock(Supplier<Engine> engine, String name) {
        this.engine = engine;
        this.name = name;
    }

    /**
     * Returns the store of a client's lock; null if the lock is not one of a client.
     *
     * @throws io.holdfast.spi.StoreException if it is not open
     */
    public static @Nullable LockStore storeBehind(DistributedLock lock) {
        return lock instanceof ThreadLock own ? GuardedStore.opened(own.engine().store) : null;
    }

    final Engine engine() {
        return engine.get();
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public void lock() {
        lock(LockOptions.defaults());
    }

    @Override
    public void lock(long lease, TimeUnit unit) {
        lock(LockOptions.defaults().leaseFor(duration("lease", lease, unit)));
    }

    private void lock(LockOptions options) {
        if (!enterAgain()) {
            refuseIfHopeless();
            // PATIENT and without a wait time: it ends with a lease or an exception.
            submit(options, Waiter.Mode.PATIENT).awaitUninterruptibly();
        }
    }

    @Override
    public void lockInterruptibly() throws InterruptedException {
        Waiter.ensureNotInterrupted();
        if (!enterAgain()) {
            refuseIfHopeless();
            submit(LockOptions.defaults(), Waiter.Mode.PATIENT).await();
        }
    }

    @Override
    public boolean tryLock() {
        return enterAgain()
                || (hopeless(Thread.currentThread()) == null
                        && submit(LockOptions.defaults(), Waiter.Mode.TRY)
                                .awaitUninterruptibly()
                                .isPresent());
    }

    @Override
    public boolean tryLock(long wait, TimeUnit unit) throws InterruptedException {
        return tryLock(withWait(LockOptions.defaults(), wait, unit));
    }

    @Override
    public boolean tryLock(long wait, long lease, TimeUnit unit) throws InterruptedException {
        return tryLock(withWait(LockOptions.defaults().leaseFor(duration("lease", lease, unit)), wait, unit));
    }

    private boolean tryLock(LockOptions options) throws InterruptedException {
        Waiter.ensureNotInterrupted();
        return enterAgain()
                || (hopeless(Thread.currentThread()) == null
                        && submit(options, Waiter.Mode.TRY).awaitOptional().isPresent());
    }

    @Override
    public void unlock() {
        ActiveLease last = leave(Thread.currentThread());
        if (last != null) {
            last.release();
        }
    }

    @Override
    public Condition newCondition() {
        throw new UnsupportedOperationException("A distributed lock has no conditions");
    }

    @Override
    public boolean isLocked() {
        return engine().inspect(name).isLocked();
    }

    @Override
    public boolean isHeldByCurrentThread() {
        return holdCount(Thread.currentThread()) > 0;
    }

    @Override
    public int getHoldCount() {
        return holdCount(Thread.currentThread());
    }

    @Override
    public Duration remaining() {
        ActiveLease mine = ownedBy(Thread.currentThread());
        return mine == null ? Duration.ZERO : mine.remaining();
    }

    @Override
    public void extend(Duration time) {
        Thread caller = Thread.currentThread();
        ActiveLease mine = ownedBy(caller);
        if (mine == null) {
            throw notHeld(caller, "extend");
        }
        mine.extend(time);
    }

    @Override
    public long fencingToken() {
        return fencingToken(Thread.currentThread());
    }

    @Override
    public boolean forceUnlock() {
        return engine().forceRelease(name, null).isEnded();
    }

    @Override
    public String toString() {
        return "DistributedLock[" + Quoted.name(name) + "]";
    }

    private boolean enterAgain() {
        return enterAgain(Thread.currentThread());
    }

    private void refuseIfHopeless() {
        IllegalStateException hopeless = hopeless(Thread.currentThread());
        if (hopeless != null) {
            throw hopeless;
        }
    }

    private Waiter submit(LockOptions options, Waiter.Mode mode) {
        return submit(options, mode, Thread.currentThread());
    }

    // --- the steps of a thread ---

    /** Returns the lease by which the thread owns the name, valid or not; null if there is none. */
    @Nullable
    ActiveLease ownedBy(Thread thread) {
        return engine().ownedBy(thread, name);
    }

    /** Returns why the thread, which does not own it, cannot get it without an unlock before; null if it can. */
    @Nullable
    IllegalStateException hopeless(Thread thread) {
        return null;
    }

    /** Names it in a message, in the middle of a sentence. */
    String described() {
        return "lock " + Quoted.name(name);
    }

    /** Counts a nested call, without a command. A lost lease is not entered again, so the thread contends. */
    boolean enterAgain(Thread thread) {
        ActiveLease mine = ownedBy(thread);
        if (mine == null || !mine.isValid()) {
            return false;
        }
        mine.holds().takeAgain();
        return true;
    }

    Waiter submit(LockOptions options, Waiter.Mode mode, Thread thread) {
        Engine present = engine();
        return present.submit(name, Waiter.blocking(options, mode, thread, present.settings.time.nanoTime()));
    }

    /** Gives back one hold. Returns the lease to release if it was the last hold; null otherwise. */
    @Nullable
    ActiveLease leave(Thread thread) {
        ActiveLease mine = ownedBy(thread);
        if (mine == null) {
            throw lostOrNotHeld(thread, engine().lostHolds);
        }
        if (mine.holdCount() == 0) {
            // The thread has given back all its holds. The lease was lost, and is the present one for a moment longer.
            throw notHeld(thread, "unlock");
        }
        return giveBack(mine);
    }

    /** Gives back one hold of several, or all if it is the last; then returns the lease. */
    static @Nullable ActiveLease giveBack(ActiveLease mine) {
        if (mine.holdCount() > 1) {
            mine.holds().giveBack();
            mine.ensureValid();
            return null;
        }
        mine.holds().giveAllBack();
        return mine;
    }

    /** Returns what an unlock of a thread without a lease throws. Counts the unlock if the thread has lost the lease. */
    final RuntimeException lostOrNotHeld(Thread thread, LostHolds lostHolds) {
        String lostWhy = lostHolds.unlockBy(thread, name);
        return lostWhy != null
                ? new LeaseLostException("The " + described() + " was lost before it was unlocked: " + lostWhy)
                : notHeld(thread, "unlock");
    }

    int holdCount(Thread thread) {
        ActiveLease mine = ownedBy(thread);
        return mine != null && mine.isValid() ? mine.holdCount() : 0;
    }

    long fencingToken(Thread thread) {
        ActiveLease mine = ownedBy(thread);
        if (mine == null) {
            throw notHeld(thread, "read the fencing token of");
        }
        return mine.fencingToken();
    }

    final IllegalMonitorStateException notHeld(Thread thread, String what) {
        return new IllegalMonitorStateException(
                "Thread " + Quoted.name(thread.getName()) + " cannot " + what + " the "
                        + described()
                        + ": it does not hold it (expected: the thread that locked it; a Lease of acquire belongs to no thread)");
    }

    private static LockOptions withWait(LockOptions options, long wait, TimeUnit unit) {
        // As in java.util.concurrent, zero or less means no wait; a time that is too long to count means forever.
        Duration waited = Duration.ofNanos(Math.max(0, unit.toNanos(wait)));
        return options.waitAtMost(waited.compareTo(Limits.WAIT_MAX) > 0 ? Limits.WAIT_MAX : waited);
    }

    private static Duration duration(String what, long amount, TimeUnit unit) {
        if (amount == -1) {
            throw new IllegalArgumentException(what + ": -1 " + unit + " (expected: at least "
                    + DurationText.of(Limits.LEASE_MIN)
                    + "; -1 means \"renewed\" in Redisson: use lock() or tryLock(wait, unit))");
        }
        try {
            return Duration.of(amount, unit.toChronoUnit());
        } catch (ArithmeticException e) {
            throw new IllegalArgumentException(
                    what + ": " + amount + " " + unit + " (expected: at most " + DurationText.of(Limits.LEASE_MAX)
                            + ")",
                    e);
        }
    }
}
