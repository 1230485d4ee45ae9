package io.holdfast.spring.integration;

import io.holdfast.DistributedLock;
import io.holdfast.LeaseLostException;
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

    @Override
    public void lock(long lease, TimeUnit unit) {
        lock.lock(lease, unit);
        taken();
    }

    @Override
    public void lockInterruptibly() throws InterruptedException {
        lock.lockInterruptibly();
        taken();
    }

    @Override
    public boolean tryLock() {
        return lock.tryLock() && taken();
    }

    @Override
    public boolean tryLock(long wait, TimeUnit unit) throws InterruptedException {
        return lock.tryLock(wait, unit) && taken();
    }

    @Override
    public boolean tryLock(long wait, long lease, TimeUnit unit) throws InterruptedException {
        return lock.tryLock(wait, lease, unit) && taken();
    }

    /** Always true. */
    private boolean taken() {
        Owed mine = byName.get().computeIfAbsent(name(), name -> new Owed());
        if (mine.locks == 0 || lock.getHoldCount() > mine.locks) {
            mine.locks++;
            return true;
        }
        // A new lease, though the thread has an old one to unlock. It is given back; the next unlock tells of the loss.
        lock.unlock();
        try {
            lock.unlock();
        } catch (LeaseLostException e) {
            mine.lost = e;
            throw e;
        }
        throw new IllegalStateException("The lock " + name() + " was lost before it was unlocked");
    }

    @Override
    public void unlock() {
        Owed mine = byName.get().get(name());
        if (mine != null && --mine.locks == 0) {
            byName.get().remove(name());
        }
        try {
            lock.unlock();
        } catch (IllegalMonitorStateException e) {
            throw mine != null && mine.lost != null ? mine.lost : e;
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
    public Duration remainingLease() {
        return lock.remainingLease();
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
