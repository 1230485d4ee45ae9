package io.holdfast.redis.failures;

import io.holdfast.redis.failures.FaultServers.Run;
import io.holdfast.testkit.servers.RedisCluster;
import io.holdfast.testkit.servers.RedisServer;
import io.holdfast.testkit.servers.SlotMigration;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.AfterParameterizedClassInvocation;
import org.junit.jupiter.params.BeforeParameterizedClassInvocation;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.MethodSource;

/** Three masters with a replica each: slots move, and masters fail, while locks are held and contended. */
@ParameterizedClass(name = "{0}")
@MethodSource("io.holdfast.redis.failures.FaultServers#few")
@Timeout(180)
class ClusterFaultsTest {

    /** Longer than a failover takes. */
    private static final Duration LEASE = Duration.ofSeconds(15);

    private static RedisCluster cluster;

    private final Run run;

    ClusterFaultsTest(Run run) {
        this.run = run;
    }

    @BeforeParameterizedClassInvocation
    static void start(Run run) {
        cluster = RedisCluster.builder()
                .installation(run.installation())
                .nodeTimeout(Duration.ofSeconds(1))
                .start();
    }

    @AfterParameterizedClassInvocation
    static void stop() {
        cluster.close();
    }

    @Test
    void slotsMove() throws Exception {
        try (UnderFault fault = under("slot of held and contended locks moves")) {
            long began = System.nanoTime();
            RedisServer from = cluster.nodeOf(UnderFault.HELD);
            RedisServer to = cluster.masters().stream()
                    .filter(master -> master != from)
                    .findFirst()
                    .orElseThrow();
            SlotMigration migration = cluster.migrate(cluster.slotOf(UnderFault.HELD), to);
            // The keys of one lock are apart for a while, and commands on them are asked to come again.
            for (String key : migration.remainingKeys()) {
                migration.moveKey(key);
                TimeUnit.MILLISECONDS.sleep(50);
            }
            migration.finish();
            fault.measured("served again after", fault.awaitAllServed() - began);
            fault.assertStillHeld();
        }
    }

    @Test
    void aMasterFailsOverInGoodOrder() throws Exception {
        try (UnderFault fault = under("Cluster failover by order")) {
            long began = System.nanoTime();
            cluster.failover(cluster.nodeOf(UnderFault.HELD));
            fault.measured("served again after", fault.awaitAllServed() - began);
            fault.assertStillHeld();
        }
    }

    @Tag("deep")
    @Test
    void aMasterCrashesAfterReplication() throws Exception {
        try (UnderFault fault = under("Cluster failover after replication")) {
            RedisServer master = cluster.nodeOf(UnderFault.HELD);
            int slot = cluster.slotOf(UnderFault.HELD);
            long began = System.nanoTime();
            master.kill();
            fault.overlapIsPossible();
            fault.measured("served again after", fault.awaitAllServed() - began);
            cluster.awaitMasterOtherThan(master, slot);
            fault.assertStillHeld();
            fault.assertErrorsName("127.0.0.1");
            master.restart();
            cluster.awaitOk();
        }
    }

    @Test
    @Tag("deep") // quick: slotsMove and aMasterFailsOverInGoodOrder
    void aMasterCrashesBeforeReplication() throws Exception {
        RedisServer master = cluster.nodeOf(UnderFault.HELD);
        int slot = cluster.slotOf(UnderFault.HELD);
        cluster.cutReplication(master, true);
        try (UnderFault fault = under("Cluster failover before replication")) {
            long began = System.nanoTime();
            master.kill();
            fault.overlapIsPossible();
            cluster.awaitMasterOtherThan(master, slot);
            fault.measured("served again after", fault.awaitAllServed() - began);
            fault.assertLost(began);
            fault.assertNext(began).release();
            fault.assertErrorsName("127.0.0.1");
        } finally {
            // Without what it refused.
            master.restart();
            cluster.awaitOk();
        }
    }

    private UnderFault under(String scenario) throws InterruptedException {
        return new UnderFault(scenario, run, cluster.uri(), cluster.uri(), Duration.ofSeconds(1), LEASE);
    }
}
