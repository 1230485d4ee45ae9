package io.holdfast.bench.peer;

import java.net.URI;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.retry.ExponentialBackoffRetry;

/** Curator's own lock, one object for each name, as its documentation shows. */
final class CuratorHandle implements Handle {

    private final CuratorFramework client;
    private final Map<String, InterProcessMutex> locks = new ConcurrentHashMap<>();

    CuratorHandle(String uri) {
        client = CuratorFrameworkFactory.builder()
                .connectString(URI.create(uri).getRawAuthority())
                .sessionTimeoutMs(30_000)
                .connectionTimeoutMs(5_000)
                .retryPolicy(new ExponentialBackoffRetry(1_000, 3))
                .build();
        client.start();
        try {
            if (!client.blockUntilConnected(10, TimeUnit.SECONDS)) {
                throw new IllegalStateException("no connection to " + uri);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }

    @Override
    public void lock(String name) throws Exception {
        mutex(name).acquire();
    }

    @Override
    public boolean tryLock(String name) throws Exception {
        return mutex(name).acquire(0, TimeUnit.MILLISECONDS);
    }

    @Override
    public void unlock(String name) throws Exception {
        mutex(name).release();
    }

    private InterProcessMutex mutex(String name) {
        return locks.computeIfAbsent(name, key -> new InterProcessMutex(client, "/curator/" + key));
    }

    @Override
    public void close() {
        client.close();
    }
}
