package io.holdfast.spring.integration;

import static java.util.Objects.requireNonNull;

import io.holdfast.DistributedLock;
import io.holdfast.LockClient;
import java.util.HashMap;
import java.util.Map;
import org.springframework.integration.support.locks.LockRegistry;

/**
 * A {@link LockRegistry} of Spring Integration on Holdfast, for aggregators, leader initiators and whatever else takes one:
 *
 * <pre>{@code
 * @Bean
 * LockRegistry<DistributedLock> locks(LockClient client) {
 *     return new HoldfastLockRegistry(client, "my-registry");
 * }
 * }</pre>
 *
 * <p>The lock of a key is named {@code registryKey:key}. Locks are renewed by themselves, nothing is cached and nothing expires from a
 * cache. A thread that locks again what it has lost meanwhile is told so, once, by a {@link io.holdfast.LeaseLostException}
 * of {@code lock} and {@code tryLock}: a leader that asks again whether it is one would otherwise hear that nothing has
 * happened. It does not share locks with a {@code RedisLockRegistry}, whose keys have another form: switch all instances at once. Thread-safe.
 */
public final class HoldfastLockRegistry implements LockRegistry<DistributedLock> {

    private final LockClient client;
    private final String registryKey;
    private final ThreadLocal<Map<String, RegistryLock.Owed>> owed = ThreadLocal.withInitial(HashMap::new);

    /** @throws IllegalArgumentException if the registry key is blank */
    public HoldfastLockRegistry(LockClient client, String registryKey) {
        this.client = requireNonNull(client, "client");
        this.registryKey = LockClient.checkName(registryKey);
    }

    @Override
    public DistributedLock obtain(Object lockKey) {
        return new RegistryLock(client.getLock(registryKey + ":" + requireNonNull(lockKey, "lockKey")), owed);
    }
}
