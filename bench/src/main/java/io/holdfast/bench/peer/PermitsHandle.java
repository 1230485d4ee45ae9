package io.holdfast.bench.peer;

import io.holdfast.Lease;
import io.holdfast.LockClient;
import io.holdfast.LockOptions;
import java.io.IOException;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.recipes.locks.InterProcessSemaphoreV2;
import org.redisson.Redisson;
import org.redisson.api.RPermitExpirableSemaphore;
import org.redisson.api.RSemaphore;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

/**
 * Permits, as if they were a lock: {@link #lock} takes one of {@link #LIMIT} permits. What stands after a {@code -} in a
 * name tells one permit from another of the same pool, which has no limit worth the name.
 */
abstract class PermitsHandle implements Handle {

    static final int LIMIT = 5;

    private static final int MANY = 100_000;

    /** Longer than any measurement, where a permit is not renewed. */
    private static final int ENDLESS_SECONDS = 3_600;

    private record Key(Thread thread, String name) {}

    /** What a thread has of a name. */
    private final Map<Key, Object> held = new ConcurrentHashMap<>();

    /** Pools that this client has used. */
    private final Set<String> known = ConcurrentHashMap.newKeySet();

    /** Returns true once for each pool. */
    final boolean isNew(String pool) {
        return known.add(pool);
    }

    abstract Object acquire(String pool, int limit) throws Exception;

    abstract void release(String pool, Object permit) throws Exception;

    private static String pool(String name) {
        int dash = name.indexOf('-');
        return dash < 0 ? name : name.substring(0, dash);
    }

    @Override
    public void lock(String name) throws Exception {
        String pool = pool(name);
        held.put(new Key(Thread.currentThread(), name), acquire(pool, pool.equals(name) ? LIMIT : MANY));
    }

    @Override
    public boolean tryLock(String name) {
        throw new UnsupportedOperationException("not measured");
    }

    @Override
    public void unlock(String name) throws Exception {
        Object permit = held.remove(new Key(Thread.currentThread(), name));
        if (permit == null) {
            throw new IllegalStateException(name + " is not held by this thread");
        }
        release(pool(name), permit);
    }

    static Handle holdfast(String uri, Duration lease) {
        LockClient client = LockClient.builder().uri(uri).leaseTime(lease).build();
        return new PermitsHandle() {
            @Override
            Object acquire(String pool, int limit) throws InterruptedException {
                return client.permits(pool, limit).acquire(LockOptions.defaults());
            }

            @Override
            void release(String pool, Object permit) {
                ((Lease) permit).release();
            }

            @Override
            public void close() {
                client.close();
            }
        };
    }

    private static RedissonClient redisson(String uri) {
        Config config = new Config();
        config.useSingleServer().setAddress(uri);
        return Redisson.create(config);
    }

    /** A counter without owners: nothing of it is renewed or ends by time. */
    static Handle semaphore(String uri) {
        RedissonClient client = redisson(uri);
        return new PermitsHandle() {
            @Override
            Object acquire(String pool, int limit) throws InterruptedException {
                RSemaphore semaphore = client.getSemaphore(pool);
                if (isNew(pool)) {
                    semaphore.trySetPermits(limit);
                }
                semaphore.acquire();
                return semaphore;
            }

            @Override
            void release(String pool, Object permit) {
                ((RSemaphore) permit).release();
            }

            @Override
            public void close() {
                client.shutdown();
            }
        };
    }

    /** Its permits have an owner and an end, and are not renewed. */
    static Handle expirable(String uri) {
        RedissonClient client = redisson(uri);
        return new PermitsHandle() {
            @Override
            Object acquire(String pool, int limit) throws InterruptedException {
                RPermitExpirableSemaphore semaphore = client.getPermitExpirableSemaphore(pool);
                if (isNew(pool)) {
                    semaphore.trySetPermits(limit);
                }
                return semaphore.acquire(ENDLESS_SECONDS, TimeUnit.SECONDS);
            }

            @Override
            void release(String pool, Object permit) {
                client.getPermitExpirableSemaphore(pool).release((String) permit);
            }

            @Override
            public void close() {
                client.shutdown();
            }
        };
    }

    /** Curator's semaphore, one object for each pool, as its documentation shows. */
    static Handle curator(String uri) {
        CuratorFramework client = CuratorHandle.connect(uri);
        Map<String, InterProcessSemaphoreV2> semaphores = new ConcurrentHashMap<>();
        return new PermitsHandle() {
            @Override
            Object acquire(String pool, int limit) throws Exception {
                return semaphores
                        .computeIfAbsent(pool, key -> new InterProcessSemaphoreV2(client, "/curator/" + key, limit))
                        .acquire();
            }

            @Override
            void release(String pool, Object permit) throws IOException {
                ((org.apache.curator.framework.recipes.locks.Lease) permit).close();
            }

            @Override
            public void close() {
                client.close();
            }
        };
    }
}
