package io.holdfast.redis.failures;

import static io.holdfast.redis.failures.UnderFault.PATIENCE;
import static io.holdfast.redis.failures.UnderFault.SHORT_LEASE;
import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.Lease;
import io.holdfast.LockClient;
import io.holdfast.LockOptions;
import io.holdfast.redis.failures.FaultServers.Run;
import io.holdfast.testkit.OverlapDetector;
import io.holdfast.testkit.faults.FaultProxy;
import io.holdfast.testkit.servers.RedisReplication;
import io.holdfast.testkit.servers.RedisServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The master is cut off from the Sentinels and its replicas, but not from the client that holds a lock there; that
 * client does not hear of the Sentinels either. Another client follows the Sentinels to the new master.
 */
@Tag("deep") // quick: SickServerFaultsTest.demotedAndPromoted
@ParameterizedClass(name = "{0}")
@MethodSource("io.holdfast.redis.failures.FaultServers#few")
@Timeout(180)
class SplitBrainFaultsTest {

    private final Run run;

    SplitBrainFaultsTest(Run run) {
        this.run = run;
    }

    /**
     * Two masters, two valid leases: not prevented. Tokens tell which is the later one; the older is lost in the end.
     */
    @Test
    void anOldMasterGoesOnServing() throws Exception {
        try (Split split = new Split(run)) {
            RedisServer old = split.part();
            long began = System.nanoTime();
            Lease next = split.other.acquire("split", LockOptions.defaults().waitAtMost(PATIENCE));
            long took = System.nanoTime() - began;
            assertThat(split.held.isValid()).as("the old master renews it").isTrue();
            assertThat(next.isValid()).isTrue();
            assertThat(next.fencingToken()).isGreaterThan(split.held.fencingToken());

            // The partition ends: as the Sentinels do it, a few seconds later.
            CompletableFuture<Long> lost = lost(split.held);
            long healed = System.nanoTime();
            split.all.isolate(old, false);
            RedisServer master = split.all.master();
            old.command("REPLICAOF", master.host(), String.valueOf(master.port()));
            split.see();
            long noticed = lost.get(PATIENCE.toMillis(), TimeUnit.MILLISECONDS) - healed;
            assertThat(split.held.isValid()).isFalse();
            assertThat(next.isValid()).isTrue();
            next.release();
            print("an old master goes on serving", took, noticed);
        }
    }

    /** An old master without replicas refuses to write then, so the lease ends in time. */
    @Test
    void anOldMasterThatWantsReplicas() throws Exception {
        try (Split split = new Split(run, "--min-replicas-to-write", "1", "--min-replicas-max-lag", "1")) {
            OverlapDetector detector = new OverlapDetector("split");
            detector.enter(split.held.fencingToken());
            split.held.onLost(detector::leave);
            CompletableFuture<Long> lost = lost(split.held);
            long began = System.nanoTime();
            split.part();
            long noticed = lost.get(PATIENCE.toMillis(), TimeUnit.MILLISECONDS) - began;
            Lease next = split.other.acquire("split", LockOptions.defaults().waitAtMost(PATIENCE));
            detector.enter(next.fencingToken());
            long took = System.nanoTime() - began;
            assertThat(split.held.isValid()).isFalse();
            assertThat(next.fencingToken()).isGreaterThan(split.held.fencingToken());
            detector.leave();
            detector.assertClean();
            next.release();
            print("an old master with min-replicas-to-write 1", took, noticed);
        }
    }

    private static CompletableFuture<Long> lost(Lease lease) {
        CompletableFuture<Long> lost = new CompletableFuture<>();
        lease.onLost(() -> lost.complete(System.nanoTime()));
        return lost;
    }

    private void print(String scenario, long took, long noticed) {
        System.out.println("failures: " + run + ": " + scenario + ": next holder after " + took / 1_000_000
                + " ms, lost after " + noticed / 1_000_000 + " ms");
    }

    /** The servers and two clients, of which the first holds a lock that all replicas know of. */
    private static final class Split implements AutoCloseable {

        final RedisReplication all;
        final LockClient other;
        final Lease held;
        private final List<FaultProxy> proxies = new ArrayList<>();
        private final LockClient holder;

        Split(Run run, String... args) throws InterruptedException {
            all = RedisReplication.builder()
                    .installation(run.installation())
                    .sentinels()
                    .downAfter(Duration.ofMillis(600))
                    .isolatable()
                    .args(args)
                    .start();
            List<String> addresses = new ArrayList<>();
            for (RedisServer sentinel : all.sentinels()) {
                FaultProxy proxy = FaultProxy.to(sentinel.host(), sentinel.port());
                proxies.add(proxy);
                addresses.add("127.0.0.1:" + proxy.port());
            }
            // Shorter than a failover takes, for what still goes to the old master.
            Duration timeout = Duration.ofSeconds(1);
            holder = UnderFault.client(all.sentinelUri(String.join(",", addresses)), timeout, SHORT_LEASE);
            other = UnderFault.client(all.sentinelUri(), timeout, SHORT_LEASE);
            held = holder.acquire("split");
            all.awaitInStep();
        }

        /** The old master and the holder here, all others there. Returns the old master when there is a new one. */
        RedisServer part() {
            for (FaultProxy proxy : proxies) {
                proxy.refuse(true);
                proxy.cutAll();
            }
            RedisServer old = all.master();
            all.isolate(old, true);
            all.awaitMasterOtherThan(old);
            return old;
        }

        /** The holder reaches the Sentinels again. */
        void see() {
            proxies.forEach(proxy -> proxy.refuse(false));
        }

        @Override
        public void close() {
            holder.close();
            other.close();
            proxies.forEach(FaultProxy::close);
            all.close();
        }
    }
}
