package io.holdfast.verify.redis;

import io.holdfast.verify.engine.SimFaults;
import io.holdfast.verify.engine.SimLine;
import io.holdfast.verify.engine.SimProcess;
import io.holdfast.verify.engine.SimSite;
import io.holdfast.verify.engine.SimTime;
import io.holdfast.verify.engine.Simulation;
import io.holdfast.verify.engine.Weather;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;

/** One Redis server with the scripts, and a replica behind it. */
public final class SimServerSite implements SimSite {

    /** In a calm history: a few messages, and the turn of a thread. */
    private static final long IDLE_NANOS = 50_000_000;

    private final Simulation simulation;
    private final boolean losesAbandons;
    private final boolean inSteps;
    private final Weather weather;
    private final SimServer server;

    public SimServerSite(Simulation simulation, ScriptBug bug, boolean losesAbandons) {
        this(simulation, bug, losesAbandons, false);
    }

    /** @param inSteps whether an acquire that may queue takes several commands */
    public SimServerSite(Simulation simulation, ScriptBug bug, boolean losesAbandons, boolean inSteps) {
        this.simulation = simulation;
        this.losesAbandons = losesAbandons;
        this.inSteps = inSteps;
        SplittableRandom random = simulation.random;
        weather = simulation.calm ? Weather.fine() : Weather.random(random);
        long lag = random.nextInt(4) == 0 ? random.nextLong(1_000) * 1_000_000 : -1;
        server =
                new SimServer(simulation.world, bug, simulation.poolBug, simulation.calm, simulation.hidesWriters, lag);
    }

    @Override
    public Link connect(String processId, SimTime time, SplittableRandom random) {
        SimStore store = new SimStore(
                server, simulation.world, time, weather, random, losesAbandons, simulation.poolBug, inSteps);
        server.connect(processId, store);
        return store;
    }

    @Override
    public void scheduleFaults(SimFaults faults) {
        new SimForger(simulation, server).schedule();
        SplittableRandom random = faults.random();
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

    private void stepClocks(SimFaults faults) {
        SplittableRandom random = faults.random();
        if (random.nextBoolean()) {
            faults.stepWalls(random);
            return;
        }
        long step = random.nextLong(-3_000, 3_000) * 1_000_000;
        simulation.recorder.log("the server's clock jumps by %d ms", step / 1_000_000);
        if (step > 0) {
            faults.forget(simulation.names());
        }
        server.stepClock(step, name -> faults.forget(List.of(name)));
    }

    private void crash(SimFaults faults) {
        boolean keepsData = faults.random().nextBoolean();
        long down = faults.random().nextLong(10, 2_000) * 1_000_000;
        simulation.recorder.log(
                "the server crashes%s, for %d ms", keepsData ? "" : " and loses its data", down / 1_000_000);
        if (!keepsData) {
            faults.forget(simulation.names());
        }
        server.crash(keepsData, down);
    }

    private void failOver(SimFaults faults) {
        long down = faults.random().nextLong(50, 2_000) * 1_000_000;
        long step = faults.random().nextLong(-down, down);
        simulation.recorder.log("a replica takes over, after %d ms", down / 1_000_000);
        faults.forget(simulation.names());
        server.failOver(down, step);
    }

    @Override
    public void heal() {
        weather.becomeFine();
    }

    @Override
    public boolean isHeldBy(String processId) {
        return simulation.names().stream()
                .flatMap(name -> server.holders(name).stream())
                .anyMatch(holder -> holder.startsWith(processId + ":"));
    }

    @Override
    public boolean hasPools() {
        return true;
    }

    @Override
    public void forceRelease(String name) {
        // Nobody can order anything from a server that is down.
        if (!server.isDown()) {
            server.execute(name, (state, messages) -> state.forceRelease(null, server.now(), messages));
        }
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

    @Override
    public long attemptNanosMax() {
        return (inSteps ? 3 : 1) * SimLine.COMMAND_TIMEOUT_NANOS;
    }

    @Override
    public long idleNanosMax(Vanished vanished) {
        // A dead client that was granted keeps the lock for three polls, as the server cannot know better; those behind
        // it are seen to be dead by then, but the next that lives may only find out by its own poll. If the first was
        // given the lock for less, because it had asked for less, a second one may still be taken for alive.
        int polls = switch (vanished) {
            case NOBODY -> 0;
            case NOTICED -> 1;
            case SOME -> 4;
            case BRIEF -> 7;
        };
        return IDLE_NANOS + polls * SimProcess.POLL_MILLIS * 1_000_000;
    }

    @Override
    public long delayNanosMax() {
        return weather.delayNanosMax;
    }

    @Override
    public long wallMillisMax() {
        return 0;
    }

    @Override
    public String describe() {
        return weather.toString();
    }
}
