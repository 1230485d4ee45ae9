package io.holdfast.samples.sidebyside;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.Lease;
import io.holdfast.LockClient;
import io.holdfast.testkit.OverlapDetector;
import io.holdfast.testkit.servers.ZooKeeperEnsemble;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.retry.RetryOneTime;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Locks that are not shared: the instances between the old and the new ones take both, here Curator's and ours. */
@Timeout(120)
class TwoLocksTest {

    private static final int ROUNDS = 25;

    private interface Guard {
        void run(Runnable work) throws Exception;
    }

    @Test
    void an_instance_that_takes_both_excludes_the_old_ones_and_the_new_ones() throws Exception {
        try (ZooKeeperEnsemble servers = ZooKeeperEnsemble.start(1);
                CuratorFramework curator = CuratorFrameworkFactory.newClient(servers.servers(), new RetryOneTime(100));
                LockClient locks = LockClient.connect(servers.uri())) {
            curator.start();
            Guard old = work -> {
                InterProcessMutex mutex = new InterProcessMutex(curator, "/locks/report");
                mutex.acquire();
                try {
                    work.run();
                } finally {
                    mutex.release();
                }
            };
            Guard moved = work -> {
                try (Lease lease = locks.acquire("report")) {
                    work.run();
                    lease.ensureValid();
                }
            };
            // The old one first, everywhere.
            Guard both = work -> old.run(() -> {
                try {
                    moved.run(work);
                } catch (Exception e) {
                    throw new IllegalStateException(e);
                }
            });

            assertThat(overlaps(old, both)).as("the first rollout").isEmpty();
            assertThat(overlaps(both, moved)).as("the second rollout").isEmpty();
            assertThat(overlaps(old, moved)).as("in one rollout").isNotEmpty();
        }
    }

    /** Runs two instances of each kind at once, and returns what the detector saw. */
    private static List<String> overlaps(Guard one, Guard other) throws Exception {
        OverlapDetector detector = new OverlapDetector("report");
        AtomicLong entries = new AtomicLong();
        ExecutorService instances = Executors.newFixedThreadPool(4);
        try {
            List<Callable<Void>> runs = new ArrayList<>();
            for (Guard guard : List.of(one, other, one, other)) {
                runs.add(() -> {
                    for (int i = 0; i < ROUNDS; i++) {
                        guard.run(() -> {
                            detector.enter(entries.incrementAndGet());
                            LockSupport.parkNanos(1_000_000);
                            detector.leave();
                        });
                    }
                    return null;
                });
            }
            for (Future<Void> run : instances.invokeAll(runs)) {
                run.get();
            }
        } finally {
            instances.shutdownNow();
        }
        return detector.violations();
    }
}
