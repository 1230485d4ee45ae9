package io.holdfast.spring.integration;

import io.holdfast.DistributedLock;
import java.util.Map;

/** The lock of Spring Integration 7. Version 6.5 does not have its interface, and must not load this class. */
final class TtlLock extends RegistryLock implements org.springframework.integration.support.locks.DistributedLock {

    TtlLock(DistributedLock lock, ThreadLocal<Map<String, RegistryLock.Owed>> byName) {
        super(lock, byName);
    }
}
