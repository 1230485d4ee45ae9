package io.holdfast.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.Lease;
import io.holdfast.LockClient;
import io.holdfast.testkit.servers.ZooKeeperEnsemble;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.ForkJoinTask;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A client that lives on the only thread that a pool may have: the pool can make no other one for a thread that waits. */
@Timeout(60)
class ForkJoinOpeningTest {

    @Test
    @Tag("deep") // quick: FirstConnectionTest, and core's ForkJoinTest
    void a_pool_at_its_limit_opens_an_ensemble() throws Exception {
        ForkJoinPool pool = new ForkJoinPool(
                1, ForkJoinPool.defaultForkJoinWorkerThreadFactory, null, false, 1, 1, 1, null, 60, TimeUnit.SECONDS);
        try (ZooKeeperEnsemble servers = ZooKeeperEnsemble.start(1)) {
            ForkJoinTask<Long> work = pool.submit(() -> {
                try (LockClient client = LockClient.connect(servers.uri());
                        Lease lease = client.acquire("pool")) {
                    return lease.fencingToken();
                }
            });
            assertThat(work.get(50, TimeUnit.SECONDS)).isPositive();
        } finally {
            pool.shutdown();
        }
    }
}
