package io.holdfast.testkit.torture;

import static io.holdfast.testkit.torture.RedisFaults.any;
import static io.holdfast.testkit.torture.RedisFaults.cutClients;
import static io.holdfast.testkit.torture.RedisFaults.pause;
import static io.holdfast.testkit.torture.RedisFaults.pauseFor;

import io.holdfast.testkit.servers.RedisReplication;
import io.holdfast.testkit.servers.RedisServer;
import java.time.Duration;
import java.util.List;

/**
 * A master with two replicas and three Sentinels. There is no proxy on the way, because the Sentinels give clients the
 * addresses. Replication is asynchronous, so each change of the master may lose holds.
 */
final class SentinelRedis implements TortureServers {

    private static final int DOWN_AFTER_MILLIS = 1_000;

    private final RedisReplication servers = RedisReplication.builder()
            .replicas(2)
            .sentinels()
            .downAfter(Duration.ofMillis(DOWN_AFTER_MILLIS))
            .start();

    @Override
    public String uri() {
        return servers.sentinelUri();
    }

    @Override
    public String describe() {
        return "a master, two replicas and three Sentinels, "
                + servers.servers().get(0).installation();
    }

    @Override
    public List<TortureFault> faults() {
        return List.of(
                TortureFault.of("connections to the master cut", random -> cutClients(servers.master())),
                TortureFault.of("master paused for a moment", random -> {
                    pauseFor(servers.master(), random.nextInt(DOWN_AFTER_MILLIS / 2));
                }),
                TortureFault.of("replica paused", random -> pause(any(servers.replicas(), random), random)),
                TortureFault.of("replica killed", random -> {
                    any(servers.replicas(), random).restart();
                    servers.awaitInStep();
                }),
                TortureFault.of("sentinel paused", random -> pause(any(servers.sentinels(), random), random)),
                TortureFault.withLoss("failover by order", random -> {
                    servers.failover();
                    servers.awaitInStep();
                }),
                TortureFault.withLoss("master killed", random -> killMaster()),
                TortureFault.withLoss("master cut off from its replicas, then killed", random -> {
                    servers.cutReplication(true);
                    Thread.sleep(random.nextInt(500));
                    killMaster();
                }),
                TortureFault.withLoss("master paused until there is another", random -> {
                    RedisServer before = servers.master();
                    before.pause();
                    servers.awaitMasterOtherThan(before);
                    Thread.sleep(random.nextInt(2_000));
                    before.resume();
                    servers.awaitInStep();
                }));
    }

    /** Kills the master and restarts it as a replica when there is another master. */
    private void killMaster() {
        RedisServer before = servers.master();
        before.kill();
        servers.awaitMasterOtherThan(before);
        before.restart();
        servers.awaitInStep();
    }

    @Override
    public void close() {
        servers.close();
    }
}
