package io.holdfast.spring.integration;

import io.holdfast.LockClient;
import java.util.Map;
import java.util.concurrent.locks.Lock;

/**
 * A {@code LockRegistry} of Spring Integration 6.5, which Spring Boot 3.5 brings: the same as {@link
 * HoldfastLockRegistry}, with the locks that this version knows. Each lock is also an {@link
 * io.holdfast.DistributedLock}, which can be taken for a fixed length. Thread-safe.
 *
 * <pre>{@code
 * @Bean
 * Boot3LockRegistry locks(LockClient client) {
 *     return new Boot3LockRegistry(client, "my-registry");
 * }
 * }</pre>
 */
public final class Boot3LockRegistry extends AbstractHoldfastLockRegistry<Lock> {

    /** @throws IllegalArgumentException if the registry key is blank */
    public Boot3LockRegistry(LockClient client, String registryKey) {
        super(client, registryKey);
    }

    @Override
    Lock lock(io.holdfast.DistributedLock lock, ThreadLocal<Map<String, RegistryLock.Owed>> owed) {
        return new RegistryLock(lock, owed);
    }
}
