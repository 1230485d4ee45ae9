package io.holdfast.verify.zookeeper;

import io.holdfast.history.Event.Kind;
import io.holdfast.spi.LockStore;
import io.holdfast.verify.engine.SimFaults;
import io.holdfast.verify.engine.SimLine;
import io.holdfast.verify.engine.SimProcess;
import io.holdfast.verify.engine.SimSite;
import io.holdfast.verify.engine.SimTime;
import io.holdfast.verify.engine.Simulation;
import io.holdfast.zookeeper.VerifyZooKeeper;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeSet;

/**
 * An ensemble of three or five ZooKeeper servers, and the real store at each process. Nothing is excused: exclusion and
 * tokens are promised whatever happens to servers, network and processes, except for a lock that is released by force.
 */
public final class SimZooKeeperSite implements SimSite {

    /** In a calm history: a few messages over three servers, and the turn of a thread. */
    private static final long IDLE_NANOS = 50_000_000;

    private final Simulation simulation;
    private final EnsembleBug bug;
    private final SplittableRandom random;
    private final SimEnsemble.Shape shape;
    private final SimEnsemble ensemble;
    private final List<ZooKeeperLink> links = new ArrayList<>();

    /** Holds that were ended by force. */
    private final Set<Long> forced = new HashSet<>();

    /** A process has ended, and its session has not. */
    private boolean died;

    public SimZooKeeperSite(Simulation simulation, EnsembleBug bug) {
        this.simulation = simulation;
        this.bug = bug;
        random = simulation.random.split();
        int tick = 100;
        int session = new int[] {4, 8, 20, 20}[random.nextInt(4)] * tick;
        boolean calm = simulation.calm;
        shape = new SimEnsemble.Shape(
                random.nextInt(4) == 0 ? 5 : 3,
                tick,
                session,
                calm ? 1_000_000 : new long[] {1, 5, 40, 150}[random.nextInt(4)] * 1_000_000,
                calm ? 500_000 : new long[] {1, 5, 20}[random.nextInt(3)] * 1_000_000,
                calm ? 0 : new double[] {0, 0.005, 0.03}[random.nextInt(3)],
                calm ? 0 : new double[] {0, 0.01, 0.1}[random.nextInt(3)],
                new long[] {50, 500, 5_000}[random.nextInt(3)] * 1_000_000);
        ensemble = new SimEnsemble(simulation.world, random.split(), shape);
        if (bug == EnsembleBug.NEW_FOLDER_IS_TAKEN_FOR_THE_OLD) {
            ensemble.numberFoldersFrom(1 << 20);
        }
        // A calm history is about order and idle locks, and waiters of a full folder only poll.
        if (!calm && simulation.seed % 4 == 3) {
            // Each folder of a lock is full after a few nodes, again and again.
            ensemble.numberFoldersFrom((int) (VerifyZooKeeper.LIMIT - 3 - simulation.seed % 32));
        }
    }

    /** The store of one process. */
    private final class ZooKeeperLink implements Link {
        private final SimClient client;
        private final SimTime time;

        ZooKeeperLink(SimClient client, SimTime time) {
            this.client = client;
            this.time = time;
        }

        @Override
        public LockStore store() {
            return client.store();
        }

        @Override
        public boolean isQuiet() {
            return client.isQuiet();
        }

        @Override
        public void breakConnection() {
            client.breakConnection();
        }

        @Override
        public void cutOff(long nanos) {
            ensemble.cutOff(client, nanos);
        }

        @Override
        public void die(boolean silently) {
            died = true;
            client.die(silently);
        }

        @Override
        public String left() {
            return client.left();
        }
    }

    @Override
    public Link connect(String processId, SimTime time, SplittableRandom random) {
        SimClient client =
                ensemble.connect(processId, time, time::deliver, SimLine.COMMAND_TIMEOUT_NANOS / 1_000_000, bug);
        ZooKeeperLink link = new ZooKeeperLink(client, time);
        links.add(link);
        // As a store is opened: with a connection. In the others that takes as long as it takes.
        while (simulation.calm && !client.isOpen()) {
            simulation.next();
        }
        return link;
    }

    // --- what goes wrong ---

    @Override
    public void scheduleFaults(SimFaults faults) {
        faults.repeat(random.nextInt(4), () -> crash(anyServer()));
        faults.repeat(random.nextInt(3), () -> crash(ensemble.leader()));
        faults.repeat(random.nextInt(3), () -> stop(anyServer()));
        faults.repeat(random.nextInt(3), () -> stop(ensemble.leader()));
        faults.repeat(random.nextInt(3), () -> cutServerOff(anyServer()));
        faults.repeat(random.nextInt(3), () -> cutServerOff(ensemble.leader()));
        faults.repeat(random.nextInt(4), this::cutOff);
        faults.repeat(random.nextInt(8), this::harmAHolder);
        if (random.nextInt(4) == 0) {
            faults.at(() -> faults.stepWalls(random));
        }
    }

    private int anyServer() {
        return random.nextInt(shape.servers());
    }

    private long upTo(long millis) {
        return (1 + random.nextLong(millis)) * 1_000_000;
    }

    private void crash(int server) {
        if (server < 0) {
            return;
        }
        long down = upTo(3_000);
        boolean machine = random.nextBoolean();
        simulation.recorder.log(
                "server %d crashes%s, for %d ms", server, machine ? " with its machine" : "", down / 1_000_000);
        ensemble.crash(server, down, machine);
    }

    private void stop(int server) {
        if (server < 0) {
            return;
        }
        long length = upTo(random.nextBoolean() ? 200 : 3_000);
        simulation.recorder.log("server %d is stopped for %d ms", server, length / 1_000_000);
        ensemble.stop(server, length);
    }

    private void cutServerOff(int server) {
        if (server < 0) {
            return;
        }
        long length = upTo(4_000);
        simulation.recorder.log("server %d is cut off from the others, for %d ms", server, length / 1_000_000);
        ensemble.cutOffFromServers(server, length);
    }

    /** One process, from one server or from all. */
    private void cutOff() {
        ZooKeeperLink link = links.get(random.nextInt(links.size()));
        long length = upTo(4_000);
        if (random.nextBoolean()) {
            simulation.recorder.log("%s is cut off, for %d ms", link.client, length / 1_000_000);
            ensemble.cutOff(link.client, length);
        } else {
            int server = anyServer();
            simulation.recorder.log("%s is cut off from server %d, for %d ms", link.client, server, length / 1_000_000);
            ensemble.cutOff(link.client, server, length);
        }
    }

    /**
     * A process that holds something loses its server and its way to all others, for longer than its session: what it
     * was promised must be over before. This comes when the servers know least of it, just after a write, and after a
     * pause of less than half a session. Or its server loses the others, and goes on to answer.
     */
    private void harmAHolder() {
        List<ZooKeeperLink> holders = links.stream()
                .filter(link -> !link.time.isDead() && link.client.server() >= 0)
                .filter(link -> isHeldBy(link.client.toString()))
                .toList();
        if (holders.isEmpty()) {
            return;
        }
        ZooKeeperLink link = holders.get(random.nextInt(holders.size()));
        if (random.nextInt(3) == 0) {
            cutServerOff(link.client.server());
            return;
        }
        if (random.nextBoolean()) {
            long pause = random.nextLong(shape.sessionMillis() * 300_000L, shape.sessionMillis() * 490_000L);
            simulation.recorder.log("%s: paused for %d ms", link.client, pause / 1_000_000);
            pause(link, pause);
        }
        link.client.afterNextWrite(() -> loseServer(link));
    }

    private void pause(ZooKeeperLink link, long nanos) {
        for (SimProcess process : simulation.processes) {
            if (process.link == link) {
                simulation.recorder.event(Kind.PAUSED, process.id, "nanos", nanos);
                process.pausedNanos += process.time.pause(nanos);
            }
        }
    }

    private void loseServer(ZooKeeperLink link) {
        int server = link.client.server();
        if (server >= 0) {
            long length = (shape.sessionMillis() + 500) * 1_000_000L;
            simulation.recorder.log(
                    "%s is cut off for %d ms, and its server %d crashes", link.client, length / 1_000_000, server);
            ensemble.cutOff(link.client, length);
            ensemble.crash(server, length, true);
        }
    }

    @Override
    public void heal() {
        ensemble.heal();
    }

    @Override
    public void forget(String name) {
        forced.add(ensemble.base(name));
    }

    /** Until it is gone: there may be no leader now, or one that is none any more. */
    @Override
    public void forceRelease(String name) {
        long base = ensemble.base(name);
        if (base == 0 || !forced.contains(base)) {
            return;
        }
        simulation.checks.forgot(List.of(name));
        ensemble.deleteFirst(name);
        simulation.world.schedule(300_000_000, () -> forceRelease(name));
    }

    // --- the truth ---

    @Override
    public boolean isHeldBy(String processId) {
        return Simulation.NAMES.stream()
                .map(ensemble::holder)
                .anyMatch(holder -> holder != null && holder.startsWith(processId + ":"));
    }

    @Override
    public Set<String> used() {
        Set<String> used = new TreeSet<>();
        for (String name : Simulation.NAMES) {
            if (ensemble.holder(name) != null) {
                used.add(name + ": " + ensemble.waiting(name));
            }
        }
        return used;
    }

    @Override
    public int epochOf(String name, long base) {
        return forced.contains(base) ? (int) -base : 0;
    }

    // --- figures ---

    @Override
    public long attemptNanosMax() {
        return SimLine.COMMAND_TIMEOUT_NANOS;
    }

    /** The nodes of the dead stay for as long as their sessions. */
    @Override
    public long idleNanosMax(Vanished vanished) {
        return IDLE_NANOS + (died ? (shape.sessionMillis() + 2L * shape.tickMillis()) * 1_000_000 : 0);
    }

    @Override
    public long delayNanosMax() {
        return shape.delayNanos();
    }

    @Override
    public long wallMillisMax() {
        return 5_000;
    }

    @Override
    public String describe() {
        return ensemble.toString();
    }
}
