package io.holdfast.bench.peer;

import org.springframework.integration.support.locks.LockRegistry;

/** A lock registry of Spring Integration, over whichever store. */
abstract class RegistryHandle implements Handle {

    abstract LockRegistry<?> registry();

    @Override
    @SuppressWarnings("LockNotBeforeTry") // unlocked by the caller
    public void lock(String name) {
        registry().obtain(name).lock();
    }

    @Override
    public boolean tryLock(String name) {
        return registry().obtain(name).tryLock();
    }

    @Override
    public void unlock(String name) {
        registry().obtain(name).unlock();
    }
}
