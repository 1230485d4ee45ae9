package io.holdfast.verify.redis;

import io.holdfast.memory.VirtualTime;
import io.holdfast.spi.LockStore;
import io.holdfast.spi.TimeSource;
import io.holdfast.verify.engine.SimFaults;
import io.holdfast.verify.engine.SimProcess;
import io.holdfast.verify.engine.SimSite;
import io.holdfast.verify.engine.SimTime;
import io.holdfast.verify.engine.Simulation;
import java.util.Set;
import java.util.SplittableRandom;

/**
 * One Redis server that runs no scripts, a replica behind it, and the real store of mode {@code commands} at each
 * process.
 */
public final class SimCommandsSite implements SimSite {

    private final Simulation simulation;
    private final SplittableRandom random;
    private final SimNetwork network = new SimNetwork();
    private final SimRedis server;

    public SimCommandsSite(Simulation simulation, CommandsBug bug) {
        this.simulation = simulation;
        random = simulation.random.split();
        if (!simulation.calm) {
            network.cuts = random.nextInt(3) * 0.01;
            network.silences = random.nextInt(3) * 0.002;
            network.executesWhatWasCut = random.nextInt(3) == 0;
            network.delayNanosMax = new long[] {1, 20, 150, 1_000}[random.nextInt(4)] * 1_000_000;
        }
        server = new SimRedis(simulation.world, random.split(), Simulation.NAMES, bug);
    }

    private final class End implements SimEnd {
        private final SimTime time;
        private final SplittableRandom random;

        End(SimTime time, SplittableRandom random) {
            this.time = time;
            this.random = random;
        }

        @Override
        public VirtualTime world() {
            return simulation.world;
        }

        @Override
        public TimeSource time() {
            return time;
        }

        @Override
        public void deliver(Runnable event) {
            time.deliver(event);
        }

        @Override
        public SplittableRandom random() {
            return random;
        }

        @Override
        public SimNetwork network() {
            return network;
        }
    }

    private final class CommandsLink implements Link {
        private final CommandsSimulation process;

        CommandsLink(String clientId, SimTime time, SplittableRandom random) {
            process = new CommandsSimulation(server, clientId, new End(time, random));
        }

        @Override
        public LockStore store() {
            return process.store();
        }

        @Override
        public boolean isQuiet() {
            return process.isQuiet();
        }

        @Override
        public void breakConnection() {
            process.breakConnections();
        }

        @Override
        public void die(boolean silently) {
            if (!silently) {
                process.processEnded();
            }
        }

        @Override
        public String left() {
            return process.left();
        }
    }

    /** As Holdfast's own: clients tell such holders that somebody waits. */
    @Override
    public String clientId(String processId) {
        return "hf-" + processId;
    }

    @Override
    public Link connect(String processId, SimTime time, SplittableRandom random) {
        return new CommandsLink(clientId(processId), time, random);
    }

    // --- what goes wrong ---

    @Override
    public void scheduleFaults(SimFaults faults) {
        faults.repeat(random.nextInt(3), this::stop);
        // What a base promises: it grows as long as the clock does not go back by more than an outage lasted.
        if (random.nextInt(4) == 0) {
            faults.at(() -> stepClocks(faults));
        } else {
            faults.repeat(random.nextInt(3), () -> crash(faults));
            if (random.nextInt(3) == 0) {
                faults.at(() -> failOver(faults));
            }
        }
    }

    private void stop() {
        long length = (1 + random.nextLong(random.nextBoolean() ? 200 : 3_000)) * 1_000_000;
        simulation.recorder.log("the server is stopped for %d ms", length / 1_000_000);
        server.stop(length);
    }

    private void stepClocks(SimFaults faults) {
        if (random.nextBoolean()) {
            faults.stepWalls(random);
            return;
        }
        long step = random.nextLong(-3_000, 3_000) * 1_000_000;
        simulation.recorder.log("the server's clock jumps by %d ms", step / 1_000_000);
        if (step > 0) {
            faults.forget(Simulation.NAMES);
        }
        server.stepClock(step);
    }

    private void crash(SimFaults faults) {
        boolean keepsData = random.nextBoolean();
        long down = random.nextLong(10, 2_000) * 1_000_000;
        simulation.recorder.log(
                "the server crashes%s, for %d ms", keepsData ? "" : " and loses its data", down / 1_000_000);
        if (!keepsData) {
            faults.forget(Simulation.NAMES);
        }
        server.crash(keepsData, down);
    }

    private void failOver(SimFaults faults) {
        long down = random.nextLong(50, 2_000) * 1_000_000;
        long step = random.nextLong(-down, down);
        simulation.recorder.log("a replica takes over, after %d ms", down / 1_000_000);
        faults.forget(Simulation.NAMES);
        server.failOver(down, step);
    }

    @Override
    public void heal() {
        network.becomeFine();
    }

    @Override
    public void forceRelease(String name) {
        server.forceRelease(name);
    }

    // --- the truth ---

    @Override
    public boolean isHeldBy(String processId) {
        return Simulation.NAMES.stream()
                .map(server::holder)
                .anyMatch(holder -> holder != null && holder.startsWith(clientId(processId) + ":"));
    }

    @Override
    public void forget(String name) {
        server.forget(name);
    }

    @Override
    public int epochOf(String name, long base) {
        return server.epochOf(name, base);
    }

    @Override
    public Set<String> used() {
        return server.used();
    }

    // --- figures ---

    /**
     * SET, and then what makes the token: a look at the counter, and a comparison of two steps. Clients that are in
     * each other's way look again until a timeout has passed. The last of these may take as long as a command may,
     * each.
     */
    @Override
    public long attemptNanosMax() {
        return 6 * CommandsSimulation.COMMAND_TIMEOUT.toNanos();
    }

    /** There is no queue: a client that left the lock free for others asks after 50 ms itself. */
    @Override
    public long idleNanosMax(Vanished vanished) {
        return 100_000_000 + (vanished != Vanished.NOBODY ? 4 * SimProcess.POLL_MILLIS * 1_000_000 : 0);
    }

    @Override
    public long delayNanosMax() {
        return network.delayNanosMax;
    }

    @Override
    public long wallMillisMax() {
        return 0;
    }

    @Override
    public String describe() {
        return network + "; " + server;
    }
}
