package io.holdfast.spring.integration;

import io.holdfast.LockClient;
import java.util.Map;
import org.springframework.integration.support.locks.DistributedLock;

/**
 * A {@code LockRegistry} of Spring Integration 7 on Holdfast, for aggregators, leader initiators and other users of
 * one:
 *
 * <pre>{@code
 * @Bean
 * HoldfastLockRegistry locks(LockClient client) {
 *     return new HoldfastLockRegistry(client, "my-registry");
 * }
 * }</pre>
 *
 * <p>On Spring Boot 3.5 use {@link Boot3LockRegistry}: Spring Integration 6.5 does not have {@link DistributedLock}.
 *
 * <p>The lock of a key is named {@code registryKey:key}. Each lock is also an {@link io.holdfast.DistributedLock}, with
 * a fencing token. A lock without a time to live is renewed automatically, so {@code setRenewalTaskScheduler} has no
 * effect. When a thread locks a name again whose lease it has lost, {@code lock} and {@code tryLock} throw {@link
 * io.holdfast.LeaseLostException} once: otherwise a leader that locks again to verify its leadership would not notice
 * the loss. The locks are not those of a {@code RedisLockRegistry}, whose keys have another form: switch all instances
 * at once, or use a client in the mode {@code commands} with an empty name prefix, which shares its locks. Thread-safe.
 */
public final class HoldfastLockRegistry extends AbstractHoldfastLockRegistry<DistributedLock> {

    /** @throws IllegalArgumentException if the registry key is blank */
    public HoldfastLockRegistry(LockClient client, String registryKey) {
        super(client, registryKey);
    }

    @Override
    DistributedLock lock(io.holdfast.DistributedLock lock, ThreadLocal<Map<String, RegistryLock.Owed>> owed) {
        return new TtlLock(lock, owed);
    }
}
