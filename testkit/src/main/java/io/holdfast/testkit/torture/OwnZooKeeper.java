package io.holdfast.testkit.torture;

import io.holdfast.testkit.faults.FaultProxy;
import io.holdfast.testkit.servers.ZooKeeperEnsemble;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import java.util.Random;
import java.util.stream.Collectors;

/** An ensemble of three servers, each behind a proxy for clients. No fault is excused. */
final class OwnZooKeeper implements TortureServers {

    private static final int SERVERS = 3;

    private final ZooKeeperEnsemble servers = ZooKeeperEnsemble.start(SERVERS);
    private final List<FaultProxy> proxies = new ArrayList<>();
    private final Network network;

    OwnZooKeeper() {
        for (int i = 0; i < SERVERS; i++) {
            proxies.add(FaultProxy.to("127.0.0.1", servers.port(i)));
        }
        network = new Network(proxies);
    }

    /** Two thirds of a session are a lease of the workers. */
    @Override
    public String uri() {
        return "zookeeper://"
                + proxies.stream().map(p -> "127.0.0.1:" + p.port()).collect(Collectors.joining(","))
                + "/torture?sessionTimeout=" + Torture.LEASE.toMillis() * 3 / 2 + "ms";
    }

    @Override
    public String describe() {
        return "an ensemble of three ZooKeeper servers";
    }

    @Override
    public List<TortureFault> faults() {
        List<TortureFault> faults = new ArrayList<>(network.faultsOfOne());
        faults.add(network.allGone());
        faults.add(TortureFault.of("leader killed", random -> {
            OptionalInt leader = servers.leader();
            if (leader.isPresent()) {
                kill(leader.getAsInt(), random);
            }
        }));
        faults.add(TortureFault.of("server killed", random -> kill(random.nextInt(SERVERS), random)));
        faults.add(TortureFault.of("majority killed", random -> {
            int one = random.nextInt(SERVERS);
            servers.kill(one);
            kill((one + 1) % SERVERS, random);
            servers.restart(one);
            servers.awaitServing();
        }));
        faults.add(TortureFault.of("leader paused", random -> {
            OptionalInt leader = servers.leader();
            if (leader.isPresent()) {
                pause(leader.getAsInt(), random);
            }
        }));
        faults.add(TortureFault.of("server paused", random -> pause(random.nextInt(SERVERS), random)));
        return faults;
    }

    private void kill(int server, Random random) throws InterruptedException {
        servers.kill(server);
        Thread.sleep(random.nextInt(3_000));
        servers.restart(server);
    }

    private void pause(int server, Random random) throws InterruptedException {
        servers.pause(server);
        Thread.sleep(random.nextInt(6_000));
        servers.resume(server);
    }

    @Override
    public void close() {
        network.close();
        servers.close();
    }
}
