package io.holdfast.testkit.torture;

import static io.holdfast.testkit.torture.RedisFaults.any;
import static io.holdfast.testkit.torture.RedisFaults.cutClients;
import static io.holdfast.testkit.torture.RedisFaults.pauseFor;

import io.holdfast.testkit.servers.RedisCluster;
import io.holdfast.testkit.servers.RedisServer;
import java.time.Duration;
import java.util.List;

/**
 * Three masters with a replica each. There is no proxy on the way, because the nodes give clients the addresses.
 * Replication is asynchronous, so each change of a master may lose holds.
 */
final class ClusteredRedis implements TortureServers {

    private static final int NODE_TIMEOUT_MILLIS = 2_000;

    private final RedisCluster cluster = RedisCluster.builder()
            .nodeTimeout(Duration.ofMillis(NODE_TIMEOUT_MILLIS))
            .start();

    @Override
    public String uri() {
        return cluster.uri();
    }

    @Override
    public String describe() {
        return "a cluster of three masters with a replica each, "
                + cluster.nodes().get(0).installation();
    }

    @Override
    public List<TortureFault> faults() {
        return List.of(
                TortureFault.of("connections to a master cut", random -> {
                    cutClients(any(cluster.masters(), random));
                }),
                TortureFault.of("master paused for a moment", random -> {
                    pauseFor(any(cluster.masters(), random), random.nextInt(NODE_TIMEOUT_MILLIS / 2));
                }),
                TortureFault.of("replica killed", random -> {
                    RedisServer master = any(cluster.masters(), random);
                    RedisServer replica = cluster.replicasOf(master).get(0);
                    replica.restart();
                    cluster.awaitReplica(replica);
                }),
                TortureFault.withLoss("failover by order", random -> {
                    RedisServer before = any(cluster.masters(), random);
                    cluster.failover(before);
                    cluster.awaitReplica(before);
                }),
                TortureFault.withLoss("master killed", random -> kill(any(cluster.masters(), random))),
                TortureFault.withLoss("master cut off from its replica, then killed", random -> {
                    RedisServer before = any(cluster.masters(), random);
                    cluster.cutReplication(before, true);
                    Thread.sleep(random.nextInt(500));
                    kill(before);
                }),
                TortureFault.withLoss("master paused until there is another", random -> {
                    RedisServer before = any(cluster.masters(), random);
                    int slot = cluster.aSlotOf(before);
                    before.pause();
                    cluster.awaitMasterOtherThan(before, slot);
                    Thread.sleep(random.nextInt(2_000));
                    before.resume();
                    cluster.awaitReplica(before);
                }));
    }

    /** Kills a master and restarts it as a replica when the cluster has another master. */
    private void kill(RedisServer master) {
        int slot = cluster.aSlotOf(master);
        master.kill();
        cluster.awaitMasterOtherThan(master, slot);
        master.restart();
        cluster.awaitReplica(master);
    }

    @Override
    public void close() {
        cluster.close();
    }
}
