package io.holdfast.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.CardDetail;
import io.holdfast.Lease;
import io.holdfast.LockClient;
import io.holdfast.engine.ProbeStore.Fate;
import io.holdfast.memory.MemoryLockStore;
import io.holdfast.spi.StoreContext;
import io.holdfast.spi.TimeSource;
import java.time.Duration;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.ForkJoinTask;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Calls on the only thread that a pool may have: it can make no other one for a thread that waits for an answer. */
@Timeout(60)
class ForkJoinTest {

    private final ProbeStore store = new ProbeStore(
            new MemoryLockStore.Server(TimeSource.system()).connect(new StoreContext("pool", TimeSource.system())));

    private void answerLater() {
        TimeSource.system().schedule(Duration.ofMillis(100).toNanos(), store::deliverReplies);
    }

    @Test
    void a_release_in_a_pool_at_its_limit_waits_for_the_answer() throws Exception {
        ForkJoinPool pool = new ForkJoinPool(
                1, ForkJoinPool.defaultForkJoinWorkerThreadFactory, null, false, 1, 1, 1, null, 60, TimeUnit.SECONDS);
        LockClient client = LockClient.builder()
                .store(store)
                .cards(CardDetail.OFF)
                .leaseTime(Duration.ofSeconds(30))
                .build();
        try (client) {
            ForkJoinTask<Boolean> work = pool.submit(() -> {
                Lease lease = client.acquire("a");
                store.renews = Fate.REPLY_HELD;
                answerLater();
                lease.extend(Duration.ofSeconds(40));
                store.releases = Fate.REPLY_HELD;
                answerLater();
                lease.release();
                return client.inspect("a").isLocked();
            });
            assertThat(work.get()).isFalse();
        } finally {
            pool.shutdown();
        }
    }
}
