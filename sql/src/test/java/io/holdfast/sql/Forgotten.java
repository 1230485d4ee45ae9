package io.holdfast.sql;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.holdfast.Lease;
import io.holdfast.LeaseLostException;
import io.holdfast.LockClient;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/** A hold that a server forgets which takes over without it. Its holder hears of that, and tokens grow. */
final class Forgotten implements AutoCloseable {

    private static final String NAME = "forgotten";

    private final String url;
    private final LockClient client;
    private final CompletableFuture<Boolean> told = new CompletableFuture<>();

    /** Acquires and releases the lock once, so that the other server can know its row. */
    Forgotten(String url) throws InterruptedException {
        this.url = url;
        this.client = Crew.client(url);
        client.acquire(NAME).release();
    }

    /** Takes the hold, when the other server receives nothing any more. */
    Lease take() throws InterruptedException {
        Lease lease = client.acquire(NAME);
        lease.onLost(() -> told.complete(true));
        return lease;
    }

    /** Fails unless another client gets the lock, with a larger token, and the holder hears of its loss. */
    void assertForgotten(Lease lease) throws Exception {
        try (LockClient other = Crew.client(url)) {
            Lease next = other.acquireAsync(NAME).toCompletableFuture().get(40, TimeUnit.SECONDS);
            assertThat(next.fencingToken()).isGreaterThan(lease.fencingToken());
            await().atMost(Duration.ofSeconds(20)).until(told::isDone);
            assertThat(lease.isValid()).isFalse();
            assertThatThrownBy(lease::release).isInstanceOf(LeaseLostException.class);
            next.release();
            client.acquire(NAME).release();
        }
    }

    @Override
    public void close() {
        client.close();
    }
}
