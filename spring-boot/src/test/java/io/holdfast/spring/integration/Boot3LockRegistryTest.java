package io.holdfast.spring.integration;

import io.holdfast.LockClient;
import java.util.concurrent.locks.Lock;

/** Runs on both versions of Spring Integration; the earlier one has nothing else. */
class Boot3LockRegistryTest extends RegistryContract {

    @Override
    AbstractHoldfastLockRegistry<Lock> registry(LockClient of) {
        return new Boot3LockRegistry(of, "app");
    }
}
