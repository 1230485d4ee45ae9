package io.holdfast.verify.engine;

import static java.util.Objects.requireNonNull;

import io.holdfast.Lease;
import io.holdfast.LockOptions;
import io.holdfast.engine.VerifyEngine;
import io.holdfast.history.Event.Kind;
import java.time.Duration;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;

/**
 * One use of a pool, from the asking to the release. Its limit is what {@link SimChecks} looks at. Here it is checked
 * that a user who has lost a share is told once, and nobody else is.
 */
class SimShare {

    /** How long after its end a user may learn of a loss. */
    private static final long TOLD_NANOS = 10_000_000;

    /** The same after a jump of the wall clocks, as a client compares its two clocks once a second. */
    private static final long TOLD_AFTER_A_JUMP_NANOS = 1_000_000_000 + TOLD_NANOS;

    final Simulation simulation;
    final SimRecorder recorder;
    final SimProcess process;
    final String name;
    final LockOptions options;
    final String who;
    final long began;

    private final SplittableRandom random;
    private final String what;
    private final int weight;
    private final int capacity;
    private final boolean isExtended;
    private final Runnable then;
    private final long pausedBefore;
    private boolean released;
    private int told;

    /**
     * @param what its share, for the timeline
     * @param then what its user does after it
     */
    SimShare(
            SimProcess process,
            Simulation simulation,
            SplittableRandom random,
            String name,
            String what,
            LockOptions options,
            int weight,
            int capacity,
            boolean isExtended,
            Runnable then) {
        this.simulation = simulation;
        this.recorder = simulation.recorder;
        this.random = random;
        this.process = process;
        this.name = name;
        this.what = what;
        this.options = options;
        this.weight = weight;
        this.capacity = capacity;
        this.isExtended = isExtended;
        this.then = then;
        this.who = simulation.nextOperation(process);
        this.began = simulation.world.nanoTime();
        this.pausedBefore = process.pausedNanos;
        process.waits(Simulation.isBrief(options));
    }

    void asked(String how) {
        recorder.log("%s: wants %s, %s%s", who, what, options, how);
        recorder.asked(who, name, options, "", isExtended, weight, capacity);
    }

    void outcome(@Nullable Lease acquired, @Nullable Throwable error) {
        process.waitsNoLonger(Simulation.isBrief(options));
        long took = simulation.world.nanoTime() - began - (process.pausedNanos - pausedBefore);
        simulation.checks.waited(process, who, options, took);
        if (acquired == null) {
            recorder.refused(who, requireNonNull(error));
            onRefused();
            then.run();
            return;
        }
        Lease lease = VerifyEngine.active(acquired);
        recorder.log("%s: has %s, token %d", who, what, lease.fencingToken());
        recorder.event(Kind.GRANTED, who, "token", lease.fencingToken());
        simulation.checks.granted(process, who, name, lease, weight, capacity, began);
        lease.onLost(() -> lost(lease));
        onGranted(lease);
        work(acquired, lease);
    }

    /** For what a subclass does besides. */
    void onGranted(Lease lease) {}

    void onRefused() {}

    private void lost(Lease lease) {
        recorder.log("%s: lost %s, token %d", who, what, lease.fencingToken());
        require(++told == 1, "was told twice of one loss");
        require(!VerifyEngine.isHeld(lease), "was told of a loss that has not happened");
        require(!simulation.calm || process.closed || !isRenewed(), "lost " + what + " although nothing went wrong");
        simulation.checks.ended(lease);
        recorder.event(Kind.LOST, who);
    }

    /** Whether its lease lasts for as long as nothing goes wrong. */
    boolean isRenewed() {
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
                recorder.log("%s: extends %s to %s", who, what, time);
                acquired.extendAsync(time)
                        .whenComplete((nothing, error) ->
                                recorder.log("%s: extended %s: %s", who, what, error == null ? "confirmed" : error));
            });
        }
    }

    /**
     * Who has lost a share, and still works under it, is told. What a wall clock ended may be valid again when that
     * clock was put back.
     */
    private void look(Lease lease) {
        long paused = process.pausedNanos;
        if (!VerifyEngine.isHeld(lease)) {
            process.time.schedule(
                    simulation.checks.forgotLately() ? TOLD_AFTER_A_JUMP_NANOS : TOLD_NANOS,
                    () -> require(
                            released || told == 1 || process.pausedNanos > paused || VerifyEngine.isHeld(lease),
                            "was not told that it lost " + what));
        }
    }

    /** Ends the work. */
    void release(Lease acquired, Lease lease) {
        releasing(lease);
        acquired.releaseAsync().whenComplete((nothing, lost) -> ended(lost == null));
    }

    final void releasing(Lease lease) {
        recorder.log("%s: releases %s, token %d", who, what, lease.fencingToken());
        released = true;
        simulation.checks.ended(lease);
        recorder.event(Kind.RELEASE, who);
    }

    final void ended(boolean held) {
        recorder.event(held ? Kind.RELEASED : Kind.LOST, who);
        then.run();
    }

    final void require(boolean expected, String why) {
        if (!expected) {
            throw simulation.violation(who + " " + why);
        }
    }
}
