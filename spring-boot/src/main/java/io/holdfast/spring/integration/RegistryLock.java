package io.holdfast.spring.integration;

import io.holdfast.DistributedLock;
import io.holdfast.LeaseLostException;
import io.holdfast.spi.Names;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import org.jspecify.annotations.Nullable;

/**
 * A lock that counts, for each thread, the locks without an unlock, even across a loss. Spring Integration's leader
 * initiator locks again at each heartbeat, to verify that it still holds the lock, and unlocks once. So a new lease
 * must not silently replace a lost one: that unlock would release it.
 */
class RegistryLock implements DistributedLock {

    /** The unlocks that a thread owes for one name. */
    static final class Owed {
        private int locks;

        /** Those of a lost lease, after the loss was reported and until the name is locked again. */
        private int ofLost;

        private @Nullable LeaseLostException lost;
    }

    private final DistributedLock lock;
    private final ThreadLocal<Map<String, Owed>> byName;

    RegistryLock(DistributedLock lock, ThreadLocal<Map<String, Owed>> byName) {
        this.lock = lock;
        this.byName = byName;
    }

    @Override
    public String name() {
        return lock.name();
    }

    @Override
    public void lock() {
        lock.lock();
        taken();
    }

    /** The end of a fixed length is not a loss. */
    @Override
    public void lock(long lease, TimeUnit unit) {
        lock.lock(lease, unit);
        takenForFixed();
    }

    @Override
    public void lockInterruptibly() throws InterruptedException {
        lock.lockInterruptibly();
        taken();
    }

    @Override
    public boolean tryLock() {
        return lock.tryLock() ? taken() : refused();
    }

    @Override
    public boolean tryLock(long wait, TimeUnit unit) throws InterruptedException {
        return lock.tryLock(wait, unit) ? taken() : refused();
    }

    /** The end of a fixed length is not a loss. */
    @Override
    public boolean tryLock(long wait, long lease, TimeUnit unit) throws InterruptedException {
        return lock.tryLock(wait, lease, unit) && takenForFixed();
    }

    /** Locks for a fixed length, as Spring Integration 7 calls it. */
    public final void lock(Duration ttl) {
        lock(TimeUnit.NANOSECONDS.convert(ttl), TimeUnit.NANOSECONDS);
    }

    /** Tries to lock for a fixed length, as Spring Integration 7 calls it. */
    public final boolean tryLock(Duration wait, Duration ttl) throws InterruptedException {
        return tryLock(TimeUnit.NANOSECONDS.convert(wait), TimeUnit.NANOSECONDS.convert(ttl), TimeUnit.NANOSECONDS);
    }

    /** Counts a nested lock; a new lease in the place of a lost one ends the count. Returns true. */
    private boolean takenForFixed() {
        Owed mine = byName.get().get(name());
        if (mine != null && lock.getHoldCount() > mine.locks) {
            mine.locks++;
        } else if (mine != null) {
            byName.get().remove(name());
        }
        return true;
    }

    /** Ends the count: the caller sees that another holder has the lock. Returns false. */
    private boolean refused() {
        byName.get().remove(name());
        return false;
    }

    /** Counts the lock, or reports the loss of the lease that this thread has not unlocked. Returns true. */
    private boolean taken() {
        Owed mine = byName.get().computeIfAbsent(name(), name -> new Owed());
        if (mine.locks == 0 || lock.getHoldCount() > mine.locks) {
            mine.locks++;
            mine.ofLost = 0;
            mine.lost = null;
            return true;
        }
        // A new lease, although the thread has not unlocked the old one: it is released, and the loss is reported once.
        mine.ofLost = mine.locks;
        mine.locks = 0;
        lock.unlock();
        try {
            lock.unlock();
        } catch (LeaseLostException e) {
            mine.lost = e;
            throw e;
        }
        throw new IllegalStateException("The lock \"" + Names.printable(name()) + "\" was lost before it was unlocked");
    }

    @Override
    public void unlock() {
        Owed mine = byName.get().get(name());
        LeaseLostException lost = mine == null ? null : mine.lost;
        if (mine != null) {
            if (mine.locks > 0) {
                mine.locks--;
            } else {
                mine.ofLost--;
            }
            if (mine.locks == 0 && mine.ofLost <= 0) {
                byName.get().remove(name());
            }
        }
        try {
            lock.unlock();
        } catch (IllegalMonitorStateException e) {
            // The lock that reported the loss has counted as an unlock.
            throw lost != null ? lost : e;
        }
    }

    @Override
    public Condition newCondition() {
        return lock.newCondition();
    }

    @Override
    public boolean isLocked() {
        return lock.isLocked();
    }

    @Override
    public boolean isHeldByCurrentThread() {
        return lock.isHeldByCurrentThread();
    }

    @Override
    public int getHoldCount() {
        return lock.getHoldCount();
    }

    @Override
    public Duration remaining() {
        return lock.remaining();
    }

    @Override
    public void extend(Duration time) {
        lock.extend(time);
    }

    @Override
    public long fencingToken() {
        return lock.fencingToken();
    }

    @Override
    public boolean forceUnlock() {
        return lock.forceUnlock();
    }

    @Override
    public String toString() {
        return lock.toString();
    }
}
