package io.holdfast.bench.peer;

import io.holdfast.Lease;
import io.holdfast.LockClient;
import java.time.Duration;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.locks.Lock;
import java.util.function.BiFunction;

/** Holdfast itself, as a user calls it. */
final class HoldfastHandle extends LockHandle {

    private final LockClient client;
    private final BiFunction<LockClient, String, Lock> kind;

    private HoldfastHandle(String uri, Duration lease, BiFunction<LockClient, String, Lock> kind) {
        this.client = LockClient.builder().uri(uri).leaseTime(lease).build();
        this.kind = kind;
    }

    static HoldfastHandle plain(String uri, Duration lease) {
        return new HoldfastHandle(uri, lease, LockClient::getLock);
    }

    static HoldfastHandle read(String uri, Duration lease) {
        return new HoldfastHandle(
                uri, lease, (client, name) -> client.getReadWriteLock(name).readLock());
    }

    static HoldfastHandle write(String uri, Duration lease) {
        return new HoldfastHandle(
                uri, lease, (client, name) -> client.getReadWriteLock(name).writeLock());
    }

    @Override
    Lock of(String name) {
        return kind.apply(client, name);
    }

    @Override
    public CompletionStage<?> pair(String name) {
        return client.acquireAsync(name).thenCompose(Lease::releaseAsync);
    }

    @Override
    public void close() {
        client.close();
    }
}
