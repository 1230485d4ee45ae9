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
 * A lock that counts, for each thread, how often it was taken and not unlocked, over losses. Spring Integration's leader initiator takes
 * the lock again at each heartbeat, to see whether it still has it, and unlocks that once: a lease that was lost meanwhile must not be
 * replaced by a new one in silence, which that unlock would release.
 */
final class RegistryLock implements DistributedLock {

    /** What a thread has to unlock of one name. */
    static final class Owed {
        private int locks;

        /** Of a lease whose loss was told when it was locked again, until it is locked anew. */
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

    /** Of a fixed length, so that its end is no loss to be told of. */
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

    /** Of a fixed length, so that its end is no loss to be told of. */
    @Override
    public boolean tryLock(long wait, long lease, TimeUnit unit) throws InterruptedException {
        return lock.tryLock(wait, lease, unit) && takenForFixed();
    }

    /** Always true. Counted where it is nested; one in the place of a lost lease ends what was counted of that. */
    private boolean takenForFixed() {
        Owed mine = byName.get().get(name());
        if (mine != null && lock.getHoldCount() > mine.locks) {
            mine.locks++;
        } else if (mine != null) {
            byName.get().remove(name());
        }
        return true;
    }

    /** Somebody else has it, and this thread has been told so. */
    private boolean refused() {
        byName.get().remove(name());
        return false;
    }

    /** Always true. */
    private boolean taken() {
        Owed mine = byName.get().computeIfAbsent(name(), name -> new Owed());
        if (mine.locks == 0 || lock.getHoldCount() > mine.locks) {
            mine.locks++;
            mine.ofLost = 0;
            mine.lost = null;
            return true;
        }
        // A new lease, though the thread has an old one to unlock. It is given back, and the loss is told, once.
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
            // The one that told of the loss was counted as its unlock.
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
