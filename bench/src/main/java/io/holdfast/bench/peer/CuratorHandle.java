package io.holdfast.bench.peer;

import java.net.URI;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.BiFunction;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.framework.recipes.locks.InterProcessReadWriteLock;
import org.apache.curator.retry.ExponentialBackoffRetry;

/** Curator's own lock, or a half of its read-write lock: one object for each name, as its documentation shows. */
final class CuratorHandle implements Handle {

    private final CuratorFramework client;
    private final BiFunction<CuratorFramework, String, InterProcessMutex> kind;
    private final Map<String, InterProcessMutex> locks = new ConcurrentHashMap<>();

    private CuratorHandle(String uri, BiFunction<CuratorFramework, String, InterProcessMutex> kind) {
        this.client = connect(uri);
        this.kind = kind;
    }

    static CuratorHandle plain(String uri) {
        return new CuratorHandle(uri, InterProcessMutex::new);
    }

    static CuratorHandle read(String uri) {
        return new CuratorHandle(uri, (client, path) -> new InterProcessReadWriteLock(client, path).readLock());
    }

    static CuratorHandle write(String uri) {
        return new CuratorHandle(uri, (client, path) -> new InterProcessReadWriteLock(client, path).writeLock());
    }

    /** Opens a client that is connected. */
    static CuratorFramework connect(String uri) {
        CuratorFramework client = CuratorFrameworkFactory.builder()
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
        return client;
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
        return locks.computeIfAbsent(name, key -> kind.apply(client, "/curator/" + key));
    }

    @Override
    public void close() {
        client.close();
    }
}
