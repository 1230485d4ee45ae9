package io.holdfast.testkit.torture;

import static io.holdfast.testkit.torture.RedisFaults.pause;

import io.holdfast.testkit.faults.FaultProxy;
import io.holdfast.testkit.servers.RedisServer;
import java.util.ArrayList;
import java.util.List;

/** One server behind a proxy. It keeps its data in memory alone, so a kill loses them. */
final class SingleRedis implements TortureServers {

    private final RedisServer server = RedisServer.start();
    private final FaultProxy proxy = FaultProxy.to(server.host(), server.port());
    private final Network network = new Network(List.of(proxy));

    @Override
    public String uri() {
        return proxy.uri();
    }

    @Override
    public String describe() {
        return server.toString();
    }

    @Override
    public List<TortureFault> faults() {
        List<TortureFault> faults = new ArrayList<>(network.faultsOfOne());
        faults.add(TortureFault.of("server paused", random -> pause(server, random)));
        faults.add(TortureFault.withLoss("server killed, its data lost", random -> {
            server.kill();
            server.restart();
        }));
        return faults;
    }

    @Override
    public void close() {
        network.close();
        server.close();
    }
}
