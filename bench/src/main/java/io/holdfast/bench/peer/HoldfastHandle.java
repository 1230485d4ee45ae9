package io.holdfast.bench.peer;

import io.holdfast.Lease;
import io.holdfast.LockClient;
import java.time.Duration;
import java.util.concurrent.CompletionStage;

/** Holdfast itself, as a user calls it. */
final class HoldfastHandle implements Handle {

    private final LockClient client;

    HoldfastHandle(String uri, Duration lease) {
        client = LockClient.builder().uri(uri).leaseTime(lease).build();
    }

    @Override
    public void lock(String name) {
        client.getLock(name).lock();
    }

    @Override
    public boolean tryLock(String name) {
        return client.getLock(name).tryLock();
    }

    @Override
    public void unlock(String name) {
        client.getLock(name).unlock();
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
