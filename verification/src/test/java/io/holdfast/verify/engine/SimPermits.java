package io.holdfast.verify.engine;

import static java.util.Objects.requireNonNull;

import io.holdfast.Lease;
import io.holdfast.LockClientClosedException;
import io.holdfast.LockOptions;
import io.holdfast.Permits;
import io.holdfast.engine.VerifyEngine;
import io.holdfast.history.Event.Kind;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * Those who use the permits of one pool: in each process up to three, and in some histories a herd in one of them, so
 * that most of it waits behind the gate. Some ask for several permits. Each process has a limit, which it sends along.
 * In some histories the limit is changed, in one process after the other.
 *
 * <p>A permit guards no register, as its token does not order it. What permits guard is the limit, which {@link
 * SimChecks} looks at. Here it is checked that a user who has lost a permit is told once, and nobody else is.
 */
final class SimPermits {

    private static final int HERD = 24;

    /** How much later than at its end a loss may be told. */
    private static final long TOLD_NANOS = 10_000_000;

    /** The same after a jump of the wall clocks, as a client compares its two clocks once a second. */
    private static final long TOLD_AFTER_A_JUMP_NANOS = 1_000_000_000 + TOLD_NANOS;

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
            long began = random.nextLong(Simulation.BUSY_TIME.toNanos());
            for (int i = 0; i < Simulation.PROCESSES; i++) {
                int process = i;
                simulation.world.schedule(began + random.nextLong(2_000_000_000), () -> setLimit(process, to));
            }
        }
        for (int i = simulation.calm ? 0 : random.nextInt(2); i > 0; i--) {
            simulation.world.schedule(
                    random.nextLong(Simulation.BUSY_TIME.toNanos()), () -> faults.forceRelease(Simulation.POOL));
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
            if (simulation.isBusy(process)) {
                process.time.schedule(random.nextLong(800) * 1_000_000, () -> {
                    if (simulation.isBusy(process)) {
                        ask();
                    }
                });
            }
        }

        private void ask() {
            int most = limitOf(process);
            int weight = random.nextInt(3) == 0 ? 1 + random.nextInt(most) : 1;
            Permits permits =
                    process.client.permits(Simulation.POOL.substring(2), most).weight(weight);
            LockOptions options = Simulation.randomOptions(random);
            Use use = new Use(this, options, weight, most);
            recorder.log(
                    "%s: wants %d of %d permits, %s%s", use.who, weight, most, options, thread ? ", by a thread" : "");
            recorder.asked(use.who, Simulation.POOL, options, "", use.isExtended, weight, most);
            if (thread) {
                askAsThread(permits, use);
                return;
            }
            CompletionStage<Lease> stage = permits.acquireAsync(options);
            simulation.givesUp(
                    random, process, () -> stage.toCompletableFuture().cancel(false));
            stage.whenComplete(use::outcome);
        }

        private void askAsThread(Permits permits, Use use) {
            try {
                SimThread waiting = new SimThread(
                        simulation, process, VerifyEngine.submit(process.client, permits, use.options), use::outcome);
                simulation.givesUp(random, process, waiting::interrupt);
            } catch (LockClientClosedException e) {
                use.outcome(null, e);
            }
        }
    }

    /** One use of permits, from the asking to the release. */
    private final class Use {
        private final User user;
        private final SimProcess process;
        private final LockOptions options;
        private final int weight;
        private final int capacity;
        private final String who;
        private final boolean isExtended = random.nextInt(8) == 0;
        private final long began = simulation.world.nanoTime();
        private final long pausedBefore;
        private boolean released;
        private int told;

        Use(User user, LockOptions options, int weight, int capacity) {
            this.user = user;
            this.process = user.process;
            this.options = options;
            this.weight = weight;
            this.capacity = capacity;
            this.who = simulation.nextOperation(process);
            this.pausedBefore = process.pausedNanos;
            process.waits(Simulation.isBrief(options));
        }

        void outcome(@Nullable Lease acquired, @Nullable Throwable error) {
            process.waitsNoLonger(Simulation.isBrief(options));
            long took = simulation.world.nanoTime() - began - (process.pausedNanos - pausedBefore);
            simulation.checks.waited(process, who, options, took);
            if (acquired == null) {
                recorder.refused(who, requireNonNull(error));
                user.think();
                return;
            }
            Lease lease = VerifyEngine.active(acquired);
            recorder.log("%s: has %d of %d permits, token %d", who, weight, capacity, lease.fencingToken());
            recorder.event(Kind.GRANTED, who, "token", lease.fencingToken());
            granted++;
            simulation.checks.granted(process, who, Simulation.POOL, lease, weight, capacity);
            lease.onLost(() -> lost(lease));
            work(acquired, lease);
        }

        private void lost(Lease lease) {
            recorder.log("%s: lost its permits, token %d", who, lease.fencingToken());
            require(++told == 1, "was told twice of one loss");
            require(!VerifyEngine.isHeld(lease), "was told of a loss that has not happened");
            require(!simulation.calm || process.closed || !isRenewed(), "lost permits although nothing went wrong");
            simulation.checks.ended(lease);
            recorder.event(Kind.LOST, who);
        }

        private boolean isRenewed() {
            return options.leaseFor().isEmpty() && options.holdAtMost().isEmpty() && !isExtended;
        }

        /** The timers refer to what the user has, so no collection of garbage decides what happens next. */
        private void work(Lease acquired, Lease lease) {
            long length = random.nextInt(5) == 0 ? random.nextLong(3 * SimProcess.LEASE_MILLIS) : random.nextLong(100);
            process.time.schedule(length * 1_000_000, () -> release(acquired, lease));
            process.time.schedule(random.nextLong(length * 1_000_000 + 1), () -> look(lease));
            if (isExtended) {
                Duration time = Duration.ofMillis(100 + random.nextLong(SimProcess.LEASE_MILLIS - 100));
                process.time.schedule(random.nextLong(length * 1_000_000 + 1), () -> {
                    recorder.log("%s: extends its permits to %s", who, time);
                    acquired.extendAsync(time)
                            .whenComplete((nothing, error) -> recorder.log(
                                    "%s: extended its permits: %s", who, error == null ? "confirmed" : error));
                });
            }
        }

        /**
         * Who has lost a permit, and still works under it, is told. What a wall clock ended may be valid again when that
         * clock was put back.
         */
        private void look(Lease lease) {
            long paused = process.pausedNanos;
            if (!VerifyEngine.isHeld(lease)) {
                process.time.schedule(
                        simulation.checks.forgotLately() ? TOLD_AFTER_A_JUMP_NANOS : TOLD_NANOS,
                        () -> require(
                                released
                                        || told == 1
                                        || process.pausedNanos > paused
                                        || VerifyEngine.isHeld(lease),
                                "was not told that its permits were lost"));
            }
        }

        private void release(Lease acquired, Lease lease) {
            recorder.log("%s: releases its permits, token %d", who, lease.fencingToken());
            released = true;
            simulation.checks.ended(lease);
            recorder.event(Kind.RELEASE, who);
            acquired.releaseAsync().whenComplete((nothing, lost) -> {
                recorder.event(lost == null ? Kind.RELEASED : Kind.LOST, who);
                user.think();
            });
        }

        private void require(boolean expected, String what) {
            if (!expected) {
                throw simulation.violation(who + " " + what);
            }
        }
    }
}
