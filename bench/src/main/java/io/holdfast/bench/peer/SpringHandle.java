package io.holdfast.bench.peer;

import java.net.URI;
import java.time.Duration;
import java.util.concurrent.locks.Lock;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.integration.redis.util.RedisLockRegistry;
import org.springframework.integration.redis.util.RedisLockRegistry.RedisLockType;
import org.springframework.scheduling.concurrent.ThreadPoolTaskScheduler;

/** Spring Integration's registry in both of its kinds, without renewal (the default) or with it. */
final class SpringHandle extends LockHandle {

    static final String REGISTRY = "bench";

    private final LettuceConnectionFactory connections;
    private final ThreadPoolTaskScheduler scheduler = new ThreadPoolTaskScheduler();
    private final RedisLockRegistry registry;

    private SpringHandle(String uri, Duration lease, RedisLockType type, boolean renewing) {
        URI address = URI.create(uri);
        connections = new LettuceConnectionFactory(address.getHost(), address.getPort());
        connections.afterPropertiesSet();
        connections.start();
        scheduler.setDaemon(true);
        scheduler.afterPropertiesSet();
        registry = new RedisLockRegistry(connections, REGISTRY, lease);
        registry.setRedisLockType(type);
        if (renewing) {
            registry.setRenewalTaskScheduler(scheduler);
        }
    }

    static SpringHandle spin(String uri, Duration lease) {
        return new SpringHandle(uri, lease, RedisLockType.SPIN_LOCK, false);
    }

    static SpringHandle renewing(String uri, Duration lease) {
        return new SpringHandle(uri, lease, RedisLockType.SPIN_LOCK, true);
    }

    static SpringHandle pubSub(String uri, Duration lease) {
        return new SpringHandle(uri, lease, RedisLockType.PUB_SUB_LOCK, false);
    }

    @Override
    Lock of(String name) {
        return registry.obtain(name);
    }

    @Override
    public void close() {
        registry.destroy();
        scheduler.shutdown();
        connections.destroy();
    }
}
