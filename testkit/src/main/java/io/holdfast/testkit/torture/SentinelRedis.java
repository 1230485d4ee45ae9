package io.holdfast.testkit.torture;

import io.holdfast.testkit.RedisReplication;
import io.holdfast.testkit.RedisServer;
import java.time.Duration;
import java.util.List;

/**
 * A master with two replicas and three Sentinels. There is no proxy on the way: the Sentinels tell clients the addresses.
 * Replication is asynchronous, so each change of the master may lose holds.
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
                TortureFault.of("connections to the master cut", random -> Connections.cut(servers.master())),
                TortureFault.of("master paused for a moment", random -> {
                    Pauses.pauseFor(servers.master(), random.nextInt(DOWN_AFTER_MILLIS / 2));
                }),
                TortureFault.of(
                        "replica paused", random -> Pauses.pause(Pauses.any(servers.replicas(), random), random)),
                TortureFault.of("replica killed", random -> {
                    Pauses.any(servers.replicas(), random).restart();
                    servers.awaitInStep();
                }),
                TortureFault.of(
                        "sentinel paused", random -> Pauses.pause(Pauses.any(servers.sentinels(), random), random)),
                TortureFault.withLoss("failover by order", random -> {
                    servers.failover();
                    servers.awaitInStep();
                }),
                TortureFault.withLoss("master killed", random -> {
                    RedisServer before = servers.master();
                    before.kill();
                    servers.awaitMasterOtherThan(before);
                    before.restart();
                    servers.awaitInStep();
                }),
                TortureFault.withLoss("master cut off from its replicas, then killed", random -> {
                    RedisServer before = servers.master();
                    servers.cutReplication(true);
                    Thread.sleep(random.nextInt(500));
                    before.kill();
                    servers.awaitMasterOtherThan(before);
                    before.restart();
                    servers.awaitInStep();
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

    @Override
    public void close() {
        servers.close();
    }
}
