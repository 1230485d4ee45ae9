package io.holdfast;

import io.holdfast.history.Event.Kind;
import java.time.Duration;
import java.util.List;
import java.util.SplittableRandom;

/** Decides what goes wrong in a simulation, and when. */
final class SimFaults {

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
        // What a base promises: it grows as long as the clock does not go back by more than an outage lasted.
        if (random.nextInt(4) == 0) {
            at(this::stepClocks);
        } else {
            repeat(random.nextInt(3), this::crash);
            if (random.nextInt(3) == 0) {
                at(this::failOver);
            }
        }
    }

    private void repeat(int times, Runnable fault) {
        for (int i = 0; i < times; i++) {
            at(fault);
        }
    }

    private void at(Runnable fault) {
        simulation.world.schedule(random.nextLong(Simulation.BUSY_TIME.toNanos()), fault);
    }

    private SimProcess any() {
        return simulation.processes.get(random.nextInt(simulation.processes.size()));
    }

    private long millis(int from, int to) {
        return random.nextLong(from, to) * 1_000_000;
    }

    private void pause() {
        SimProcess process = any();
        long length = random.nextLong(2 * SimProcess.LEASE_MILLIS) * 1_000_000;
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
        process.store.die(silently);
        if (silently) {
            simulation.checks.vanished();
        }
    }

    /** Kills, at one moment, processes that wait but hold nothing. */
    private void killBystanders(int count, boolean silently) {
        if (simulation.world.nanoTime() - 1_000_000_000 > Simulation.BUSY_TIME.toNanos()) {
            return;
        }
        List<SimProcess> bystanders = simulation.processes.stream()
                .filter(p -> p.isAlive() && p.waiting > 0 && p.store.isQuiet() && !holds(p))
                .limit(count)
                .toList();
        if (bystanders.size() < count) {
            simulation.world.schedule(10_000_000, () -> killBystanders(count, silently));
            return;
        }
        bystanders.forEach(process -> kill(process, silently));
    }

    private boolean holds(SimProcess process) {
        return Simulation.NAMES.stream()
                .map(simulation.server::holder)
                .anyMatch(holder -> holder != null && holder.startsWith(process.id + ":"));
    }

    private void breakConnection() {
        SimProcess process = any();
        recorder.log("%s: its connection breaks", process.id);
        process.store.breakConnection();
    }

    private void close() {
        SimProcess process = any();
        if (process.isAlive() && !process.closed) {
            process.time.deliver(() -> {
                recorder.log("%s: closes its client", process.id);
                process.closed = true;
                process.client.engine().closeAsync();
            });
        }
    }

    private void forceRelease() {
        String name = Simulation.NAMES.get(random.nextInt(Simulation.NAMES.size()));
        recorder.log("%s is released by force", name);
        forget(List.of(name));
        simulation.server.execute(name, (state, messages) -> state.forceRelease(simulation.server.now(), messages));
    }

    private void stepClocks() {
        if (random.nextBoolean()) {
            recorder.log("wall clocks jump");
            simulation.world.stepWall(Duration.ofMillis(random.nextLong(-5_000, 5_000)));
            return;
        }
        long step = millis(-3_000, 3_000);
        recorder.log("the server's clock jumps by %d ms", step / 1_000_000);
        // A grant whose message is on its way, or is sent for an asking from before, may be taken for younger than it
        // is.
        for (int i = 0; step > 0 && i < 10; i++) {
            simulation.world.schedule(i * 500_000_000L, () -> forget(Simulation.NAMES));
        }
        simulation.server.stepClock(step);
    }

    private void crash() {
        boolean keepsData = random.nextBoolean();
        long down = millis(10, 2_000);
        recorder.log("the server crashes%s, for %d ms", keepsData ? "" : " and loses its data", down / 1_000_000);
        if (!keepsData) {
            forget(Simulation.NAMES);
        }
        simulation.server.crash(keepsData, down);
    }

    private void failOver() {
        long down = millis(50, 2_000);
        long step = random.nextLong(-down, down);
        recorder.log("a replica takes over, after %d ms", down / 1_000_000);
        forget(Simulation.NAMES);
        simulation.server.failOver(down, step);
    }

    private void forget(List<String> names) {
        names.forEach(simulation.server::forget);
        simulation.checks.forgot(names);
    }
}
