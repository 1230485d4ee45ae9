package io.holdfast.spring.integration;

import static java.util.Objects.requireNonNull;

import io.holdfast.LockClient;
import java.time.Duration;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import org.springframework.integration.support.locks.ExpirableLockRegistry;
import org.springframework.integration.support.locks.RenewableLockRegistry;

/**
 * What the registries for the versions of Spring Integration have in common.
 *
 * <p>The lock objects are remembered for their identity alone: two objects for one key are the same lock. So an object
 * may be forgotten at any time.
 */
abstract class AbstractHoldfastLockRegistry<L extends Lock>
        implements RenewableLockRegistry<L>, ExpirableLockRegistry<L> {

    private static final int REMEMBERED_MAX = 100_000;

    /** As long as the lease of a client without settings. */
    private static final Duration RENEWAL = Duration.ofSeconds(30);

    private record Obtained<T>(T lock, long nanos) {}

    private final LockClient client;
    private final String registryKey;
    private final ThreadLocal<Map<String, RegistryLock.Owed>> owed = ThreadLocal.withInitial(HashMap::new);
    private final ReentrantLock guard = new ReentrantLock();
    private final LinkedHashMap<String, Obtained<L>> remembered = new LinkedHashMap<>(); // by guard; the oldest first

    AbstractHoldfastLockRegistry(LockClient client, String registryKey) {
        this.client = requireNonNull(client, "client");
        this.registryKey = LockClient.checkName(registryKey);
    }

    abstract L lock(io.holdfast.DistributedLock lock, ThreadLocal<Map<String, RegistryLock.Owed>> owed);

    @Override
    public final L obtain(Object lockKey) {
        String name = name(lockKey);
        guard.lock();
        try {
            Obtained<L> before = remembered.remove(name);
            L lock = before == null ? lock(client.getLock(name), owed) : before.lock;
            remembered.put(name, new Obtained<>(lock, System.nanoTime()));
            if (remembered.size() > REMEMBERED_MAX) {
                remembered.remove(remembered.keySet().iterator().next());
            }
            return lock;
        } finally {
            guard.unlock();
        }
    }

    /**
     * Renews the lock of the calling thread now, and so verifies that the store still knows it. A lock of a fixed
     * length ends 30 seconds from now; any other is renewed as before.
     *
     * @throws IllegalStateException if the calling thread does not hold the lock, or has lost it
     * @throws io.holdfast.LeaseLostException if the store says that the lock is lost
     * @throws io.holdfast.LockStoreException if the store did not confirm the renewal
     */
    @Override
    public final void renewLock(Object lockKey) {
        renewLock(lockKey, RENEWAL);
    }

    /**
     * Gives the lock of the calling thread this time from now on, as {@link io.holdfast.Lease#extend} does: a lock of a
     * fixed length ends after it; any other lock is guaranteed for at least this time and keeps being renewed.
     *
     * @throws IllegalStateException if the calling thread does not hold the lock, or has lost it
     * @throws io.holdfast.LeaseLostException if the store says that the lock is lost
     * @throws io.holdfast.LockStoreException if the store did not confirm the new time
     * @throws IllegalArgumentException if shorter than 100 milliseconds or longer than 365 days
     */
    @Override
    public final void renewLock(Object lockKey, Duration ttl) {
        try {
            client.getLock(name(lockKey)).extend(requireNonNull(ttl, "ttl"));
        } catch (IllegalMonitorStateException e) {
            // The exception of the other registries.
            throw new IllegalStateException(e.getMessage(), e);
        }
    }

    /** Forgets lock objects that were obtained longer ago. Their locks stay as they are, held or not. */
    @Override
    public final void expireUnusedOlderThan(long age) {
        long now = System.nanoTime();
        guard.lock();
        try {
            remembered.values().removeIf(each -> now - each.nanos > TimeUnit.MILLISECONDS.toNanos(age));
        } finally {
            guard.unlock();
        }
    }

    private String name(Object lockKey) {
        return registryKey + ":" + requireNonNull(lockKey, "lockKey");
    }
}
