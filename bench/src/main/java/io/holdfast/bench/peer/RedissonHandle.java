package io.holdfast.bench.peer;

import java.time.Duration;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BiFunction;
import org.redisson.Redisson;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

/** Redisson's lock in four of its kinds. */
final class RedissonHandle extends LockHandle {

    private final RedissonClient client;
    private final BiFunction<RedissonClient, String, RLock> kind;

    /** Owners for the asynchronous lock, which takes thread ids. */
    private final AtomicLong owners = new AtomicLong(1L << 40);

    private RedissonHandle(String uri, Duration lease, BiFunction<RedissonClient, String, RLock> kind) {
        Config config = new Config();
        config.setLockWatchdogTimeout(lease.toMillis());
        config.useSingleServer().setAddress(uri);
        this.client = Redisson.create(config);
        this.kind = kind;
    }

    static RedissonHandle plain(String uri, Duration lease) {
        return new RedissonHandle(uri, lease, RedissonClient::getLock);
    }

    static RedissonHandle fair(String uri, Duration lease) {
        return new RedissonHandle(uri, lease, RedissonClient::getFairLock);
    }

    static RedissonHandle spin(String uri, Duration lease) {
        return new RedissonHandle(uri, lease, RedissonClient::getSpinLock);
    }

    static RedissonHandle read(String uri, Duration lease) {
        return new RedissonHandle(
                uri, lease, (client, name) -> client.getReadWriteLock(name).readLock());
    }

    @Override
    RLock of(String name) {
        return kind.apply(client, name);
    }

    @Override
    public CompletionStage<?> pair(String name) {
        RLock lock = of(name);
        long owner = owners.incrementAndGet();
        return lock.lockAsync(owner).thenCompose(held -> lock.unlockAsync(owner));
    }

    @Override
    public void close() {
        client.shutdown();
    }
}
