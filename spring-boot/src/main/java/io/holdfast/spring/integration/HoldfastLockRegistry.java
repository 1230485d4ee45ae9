package io.holdfast.spring.integration;

import static java.util.Objects.requireNonNull;

import io.holdfast.DistributedLock;
import io.holdfast.LockClient;
import java.util.HashMap;
import java.util.Map;
import org.springframework.integration.support.locks.LockRegistry;

/**
 * A {@link LockRegistry} of Spring Integration on Holdfast, for aggregators, leader initiators and other users of one:
 *
 * <pre>{@code
 * @Bean
 * LockRegistry<DistributedLock> locks(LockClient client) {
 *     return new HoldfastLockRegistry(client, "my-registry");
 * }
 * }</pre>
 *
 * <p>The lock of a key is named {@code registryKey:key}. Leases are renewed automatically; there is no cache that could
 * expire. When a thread locks a name again whose lease it has lost, {@code lock} and {@code tryLock} throw {@link
 * io.holdfast.LeaseLostException} once: otherwise a leader that locks again to verify its leadership would not notice
 * the loss. The locks are not those of a {@code RedisLockRegistry}, whose keys have another form: switch all instances
 * at once. Thread-safe.
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
