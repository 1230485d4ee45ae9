package io.holdfast.verify.engine;

import io.holdfast.engine.VerifyEngine;
import io.holdfast.history.Event.Kind;
import java.time.Duration;
import java.util.List;
import java.util.SplittableRandom;

/** Decides what goes wrong in a simulation, and when. */
public final class SimFaults {

    private final Simulation simulation;
    private final SplittableRandom random;
    private final SimRecorder recorder;

    SimFaults(Simulation simulation) {
        this.simulation = simulation;
        this.random = simulation.random.split();
        this.recorder = simulation.recorder;
    }

    void schedule() {
        if (simulation.calm) {
            if (random.nextInt(2) == 0) {
                boolean silently = random.nextBoolean();
                at(() -> killBystanders(1 + random.nextInt(2), silently));
            }
            return;
        }
        repeat(random.nextInt(8), this::pause);
        repeat(random.nextInt(3), this::kill);
        repeat(random.nextInt(4), this::breakConnection);
        if (random.nextInt(8) == 0) {
            at(this::close);
        }
        if (random.nextInt(4) == 0) {
            at(this::forceRelease);
        }
        simulation.site.scheduleFaults(this);
    }

    public void repeat(int times, Runnable fault) {
        for (int i = 0; i < times; i++) {
            at(fault);
        }
    }

    public void at(Runnable fault) {
        simulation.world.schedule(random.nextLong(SimPlan.BUSY_TIME.toNanos()), fault);
    }

    SimProcess any() {
        return simulation.processes.get(random.nextInt(simulation.processes.size()));
    }

    /** All of them together: each process keeps what it is ahead of the others. */
    public void stepWalls(SplittableRandom draws) {
        recorder.log("wall clocks jump");
        simulation.world.stepWall(Duration.ofMillis(draws.nextLong(-5_000, 5_000)));
        simulation.checks.wallsJumped();
    }

    /** For the site's decisions. */
    public SplittableRandom random() {
        return random;
    }

    /** A process that holds something, if there is one, gets no time for a while. */
    public void pauseHolder() {
        List<SimProcess> holders = simulation.processes.stream()
                .filter(process -> process.isAlive() && simulation.site.isHeldBy(process.id))
                .toList();
        pauseForLong(holders.isEmpty() ? any() : holders.get(random.nextInt(holders.size())));
    }

    private void pause() {
        pauseForLong(any());
    }

    private void pauseForLong(SimProcess process) {
        pause(process, random.nextLong(2 * SimProcess.LEASE_MILLIS) * 1_000_000);
    }

    void pause(SimProcess process, long length) {
        recorder.log("%s: paused for %d ms", process.id, length / 1_000_000);
        recorder.event(Kind.PAUSED, process.id, "nanos", length);
        process.pausedNanos += process.time.pause(length);
    }

    private void kill() {
        kill(any(), random.nextBoolean());
        if (random.nextBoolean()) {
            simulation.addProcess();
        }
    }

    private void kill(SimProcess process, boolean silently) {
        recorder.log("%s: killed%s", process.id, silently ? ", with its machine" : "");
        recorder.event(Kind.DIED, process.id);
        process.time.kill();
        process.link.die(silently);
        simulation.checks.killed();
        if (silently) {
            simulation.checks.vanished(process);
        }
    }

    /** Kills, at one moment, processes that wait but hold nothing. */
    private void killBystanders(int count, boolean silently) {
        if (simulation.world.nanoTime() - 1_000_000_000 > SimPlan.BUSY_TIME.toNanos()) {
            return;
        }
        List<SimProcess> bystanders = simulation.processes.stream()
                .filter(p -> p.isAlive() && p.waiting > 0 && p.link.isQuiet() && !simulation.site.isHeldBy(p.id))
                .limit(count)
                .toList();
        if (bystanders.size() < count) {
            simulation.world.schedule(10_000_000, () -> killBystanders(count, silently));
            return;
        }
        bystanders.forEach(process -> kill(process, silently));
    }

    private void breakConnection() {
        SimProcess process = any();
        recorder.log("%s: its connection breaks", process.id);
        process.link.breakConnection();
    }

    private void close() {
        close(any());
    }

    void close(SimProcess process) {
        if (process.isAlive() && !process.closed) {
            process.time.deliver(() -> {
                recorder.log("%s: closes its client", process.id);
                process.closed = true;
                VerifyEngine.close(process.client, simulation.leaderBug);
            });
        }
    }

    private void forceRelease() {
        List<String> names = simulation.names();
        forceRelease(names.get(random.nextInt(names.size())));
    }

    void forceRelease(String name) {
        recorder.log("%s is released by force", name);
        forget(List.of(name));
        simulation.site.forceRelease(name);
    }

    /** Exclusion is not promised between what was granted before and later. */
    public void forget(List<String> names) {
        names.forEach(simulation.site::forget);
        simulation.checks.forgot(names);
    }
}
