package io.holdfast.micrometer;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.Lease;
import io.holdfast.LockClient;
import io.holdfast.LockOptions;
import io.holdfast.OnceOutcome;
import io.holdfast.spi.StoreException;
import java.time.Duration;
import java.util.Optional;

/** Events after which each meter of Holdfast is there. */
final class EveryMeter {

    private EveryMeter() {}

    /** Causes one event of each kind. The client is one of {@code memory:metrics}, and the meters listen to it. */
    static void count(HoldfastMetrics metrics, LockClient client) throws Exception {
        useLocks(client);
        disturb(metrics);
    }

    /** One event of each kind that locks have. */
    static void useLocks(LockClient client) throws Exception {
        try (LockClient elsewhere = LockClient.connect("memory:metrics");
                Lease held = elsewhere.acquire("order:refund:1")) {
            Optional<Lease> none =
                    client.tryAcquire("order:refund:1", LockOptions.defaults().waitAtMost(Duration.ofMillis(20)));
            assertThat(none).isEmpty();
            assertThat(held.isValid()).isTrue();
        }
        Lease lease = client.acquire("order:refund:2");
        var next = client.acquireAsync("order:refund:2").toCompletableFuture();
        lease.release();
        next.join().release();
        Lease lost = client.acquire("job:nightly");
        client.forceRelease("job:nightly");
        assertThat(lost.isValid()).isFalse();
        client.acquire("something:17").close();
    }

    static void disturb(HoldfastMetrics metrics) {
        metrics.renewed(1, 0, Duration.ofMillis(1));
        metrics.storeFailed("job:1", "renew", new StoreException(StoreException.Outcome.UNKNOWN, "store: down", null));
        metrics.renewalFailed("job:1", new IllegalStateException());
        metrics.reconnected();
        metrics.clockJumped(Duration.ofMinutes(1));
        metrics.elected("nightly", 7);
        metrics.once("order:refund:1", OnceOutcome.REPEATED);
    }
}
