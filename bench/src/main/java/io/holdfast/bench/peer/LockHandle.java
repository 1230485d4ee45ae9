package io.holdfast.bench.peer;

import java.util.concurrent.locks.Lock;

/** A peer whose lock is a {@link Lock}. */
abstract class LockHandle implements Handle {

    /** Returns the lock of a name, as the peer's users get it. */
    abstract Lock of(String name);

    @Override
    @SuppressWarnings("LockNotBeforeTry") // unlocked by the caller
    public void lock(String name) {
        of(name).lock();
    }

    @Override
    public boolean tryLock(String name) {
        return of(name).tryLock();
    }

    @Override
    public void unlock(String name) {
        of(name).unlock();
    }
}
