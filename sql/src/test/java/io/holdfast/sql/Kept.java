package io.holdfast.sql;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.Lease;
import io.holdfast.LockClient;
import io.holdfast.LockOptions;
import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;

/** A hold of a minute, which a failure of the database must not end. */
final class Kept implements AutoCloseable {

    private static final LockOptions MINUTE = LockOptions.defaults().leaseFor(Duration.ofMinutes(1));

    private final String name = "kept:" + UUID.randomUUID();
    private final String url;
    private final LockClient client;
    private final Lease lease;
    private final AtomicInteger losses = new AtomicInteger();

    Kept(String url) throws InterruptedException {
        this.url = url;
        this.client = Crew.client(url);
        this.lease = client.acquire(name, MINUTE);
        lease.onLost(losses::incrementAndGet);
    }

    /** Fails if the hold was lost, or if it keeps nobody out. Ends it. */
    void assertKept() throws InterruptedException {
        assertThat(lease.isValid()).isTrue();
        assertThat(losses).hasValue(0);
        try (LockClient other = LockClient.connect(url)) {
            assertThat(other.tryAcquire(name)).isEmpty();
            lease.release();
            other.acquire(name).release();
        }
    }

    @Override
    public void close() {
        client.close();
    }
}
