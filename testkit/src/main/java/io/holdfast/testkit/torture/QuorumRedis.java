package io.holdfast.testkit.torture;

import static io.holdfast.testkit.torture.RedisFaults.any;
import static io.holdfast.testkit.torture.RedisFaults.pause;

import io.holdfast.testkit.faults.FaultProxy;
import io.holdfast.testkit.servers.RedisServer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Collectors;

/**
 * Three independent servers, each behind a proxy. One server at a time loses its data; a quorum must not forget a hold
 * because of that, so no fault is excused.
 */
final class QuorumRedis implements TortureServers {

    /** A little longer than the leases of the workers. A restarted server does not vote for this time. */
    private static final long LONGEST_LEASE_MILLIS = Torture.LEASE.toMillis() + 1_000;

    private final List<RedisServer> servers = new ArrayList<>();
    private final List<FaultProxy> proxies = new ArrayList<>();
    private final Network network;

    QuorumRedis() {
        try {
            for (int i = 0; i < 3; i++) {
                RedisServer server = RedisServer.start();
                servers.add(server);
                proxies.add(FaultProxy.to(server.host(), server.port()));
            }
        } catch (RuntimeException e) {
            servers.forEach(RedisServer::close);
            throw e;
        }
        network = new Network(proxies);
        // A set whose servers have all been up for longer than the longest lease may vote at once.
        LockSupport.parkNanos(1_500_000 * LONGEST_LEASE_MILLIS);
    }

    @Override
    public String uri() {
        return "redlock://" + proxies.stream().map(p -> "127.0.0.1:" + p.port()).collect(Collectors.joining(","))
                + "?longestLease=" + LONGEST_LEASE_MILLIS + "ms&memberTimeout=500ms";
    }

    @Override
    public String describe() {
        return "three independent servers, " + servers.get(0).installation();
    }

    @Override
    public List<TortureFault> faults() {
        List<TortureFault> faults = new ArrayList<>(network.faultsOfOne());
        faults.add(network.allGone());
        faults.add(TortureFault.of("server paused", random -> pause(any(servers, random), random)));
        faults.add(TortureFault.of("server killed, its data lost", random -> {
            RedisServer server = any(servers, random);
            server.kill();
            Thread.sleep(random.nextInt(2_000));
            server.restart();
        }));
        return faults;
    }

    @Override
    public void close() {
        network.close();
        servers.forEach(RedisServer::close);
    }
}
