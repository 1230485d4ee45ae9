package io.holdfast.verify.engine;

import io.holdfast.Lease;
import io.holdfast.LockClientClosedException;
import io.holdfast.LockOptions;
import io.holdfast.Permits;
import io.holdfast.engine.VerifyEngine;
import java.util.HashMap;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.CompletionStage;

/**
 * Those who use the permits of one pool: in each process up to three, and in some histories a herd in one of them, so
 * that most of it waits behind the gate. Some ask for several permits. Each process has a limit, which it sends along.
 * In some histories the limit is changed, in one process after the other.
 *
 * <p>A permit guards no register, as its token does not order it. What permits guard is the limit, which {@link
 * SimChecks} looks at.
 */
final class SimPermits {

    private static final int HERD = 24;

    private final Simulation simulation;
    private final SimRecorder recorder;
    private final SplittableRandom random;
    private final int limit;

    /** Of processes whose limit was changed. */
    private final Map<Integer, Integer> limits = new HashMap<>();

    private boolean herd;
    private long granted;

    SimPermits(Simulation simulation) {
        this.simulation = simulation;
        this.recorder = simulation.recorder;
        this.random = simulation.pools;
        this.limit = 2 + random.nextInt(4);
    }

    /** How many times a permit was granted. */
    long granted() {
        return granted;
    }

    boolean hasHerd() {
        return herd;
    }

    void addUsers(SimProcess process) {
        boolean isHerd = !herd && random.nextInt(8) == 0;
        herd |= isHerd;
        User first = new User(process);
        first.think();
        for (int i = isHerd ? HERD : random.nextInt(3); i > 0; i--) {
            new User(process).think();
        }
    }

    void scheduleFaults(SimFaults faults) {
        if (random.nextInt(3) == 0) {
            int to = 2 + random.nextInt(4);
            long began = random.nextLong(SimPlan.BUSY_TIME.toNanos());
            for (int i = 0; i < Simulation.PROCESSES; i++) {
                int process = i;
                simulation.world.schedule(began + random.nextLong(2_000_000_000), () -> setLimit(process, to));
            }
        }
        for (int i = simulation.calm ? 0 : random.nextInt(2); i > 0; i--) {
            simulation.world.schedule(
                    random.nextLong(SimPlan.BUSY_TIME.toNanos()), () -> faults.forceRelease(Simulation.POOL));
        }
    }

    private void setLimit(int process, int to) {
        recorder.log("p%d: has a limit of %d permits from now on", process, to);
        limits.put(process, to);
    }

    private int limitOf(SimProcess process) {
        return limits.getOrDefault(simulation.processes.indexOf(process), limit);
    }

    /** Who asks for permits, uses them, and asks again. */
    private final class User {
        private final SimProcess process;
        private final boolean thread = random.nextInt(3) == 0;

        User(SimProcess process) {
            this.process = process;
        }

        void think() {
            simulation.think(random, process, this::ask);
        }

        private void ask() {
            int most = limitOf(process);
            int weight = random.nextInt(3) == 0 ? 1 + random.nextInt(most) : 1;
            Permits permits =
                    process.client.permits(Simulation.POOL.substring(2), most).weight(weight);
            LockOptions options = Simulation.randomOptions(random);
            boolean isExtended = random.nextInt(8) == 0;
            String what = weight + " of " + most + " permits";
            SimShare use =
                    new SimShare(
                            process,
                            simulation,
                            random,
                            Simulation.POOL,
                            what,
                            options,
                            weight,
                            most,
                            isExtended,
                            this::think) {
                        @Override
                        void onGranted(Lease lease) {
                            granted++;
                        }
                    };
            use.asked(thread ? ", by a thread" : "");
            if (thread) {
                askAsThread(permits, use);
                return;
            }
            CompletionStage<Lease> stage = permits.acquireAsync(options);
            simulation.givesUp(
                    random, process, () -> stage.toCompletableFuture().cancel(false));
            stage.whenComplete(use::outcome);
        }

        private void askAsThread(Permits permits, SimShare use) {
            try {
                SimThread waiting = new SimThread(
                        simulation, process, VerifyEngine.submit(process.client, permits, use.options), use::outcome);
                simulation.givesUp(random, process, waiting::interrupt);
            } catch (LockClientClosedException e) {
                use.outcome(null, e);
            }
        }
    }
}
