package io.holdfast.verify.engine;

import io.holdfast.Lease;
import io.holdfast.LockOptions;
import io.holdfast.engine.VerifyEngine;
import io.holdfast.history.Event.Kind;
import io.holdfast.history.Findings;
import io.holdfast.history.HistoryChecker;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * What must be true in a simulation. After every event, with the truth at hand that no recorder has: no two valid
 * leases on a name, nor permits above their limit; none valid again after its time. At the end: nothing is left at any
 * process or at the servers, the locks are free, and the recorded history is accepted by the checker that real runs are
 * checked with.
 */
public final class SimChecks {

    /** A lease that the server forgot is noticed by then: the longest one that the users ask for, and the drift. */
    static final long NOTICED_NANOS = 2_200_000_000L;

    /** In a calm history, who asks so much later comes later: a message takes a millisecond. */
    private static final long ORDER_NANOS = 20_000_000;

    /** Longer ago than any history is. */
    static final long NEVER = Long.MIN_VALUE / 2;

    /** The first lease on a hold has the hold's base as its token, times this; those after it count up. */
    private static final long TOKENS_OF_A_HOLD = 1 << 14;

    /** A lease that is out. */
    private static final class Given {
        final SimProcess process;
        final String who;
        final String name;
        final Lease lease;
        final int weight;

        /** How much all valid leases on the name may weigh while it is the youngest; 1 for a lock. */
        final int capacity;

        long lastValid = -1;

        /** Its time has been seen to have passed. */
        boolean over;

        Given(SimProcess process, String who, String name, Lease lease, int weight, int capacity) {
            this.process = process;
            this.who = who;
            this.name = name;
            this.lease = lease;
            this.weight = weight;
            this.capacity = capacity;
        }
    }

    /** How long a wait gives its first command, which may be sent at its end. */
    private static final long FIRST_ANSWER_NANOS = 100_000_000;

    private final Simulation simulation;
    private final List<Given> given = new ArrayList<>();
    private long forgottenNanos = NEVER;
    private final Map<String, Long> forgotten = new HashMap<>();
    private final Set<String> tokens = new HashSet<>();

    /** By name: when a lease was last seen to be over. */
    private final Map<String, Long> endedNanos = new HashMap<>();

    /** How many leases were granted to somebody who had waited while another one had the name; and without the store. */
    long handOffs;

    long localHandOffs;

    private boolean killed;
    private SimSite.Vanished vanished = SimSite.Vanished.NOBODY;

    SimChecks(Simulation simulation) {
        this.simulation = simulation;
    }

    /** Returns when the servers last forgot locks, or the wall clocks jumped, which may end leases. */
    long forgottenNanos() {
        return forgottenNanos;
    }

    /** Returns whether a lease that is granted now may be one that the servers have forgotten, or will yet. */
    boolean forgotLately() {
        return simulation.world.nanoTime() - forgottenNanos < NOTICED_NANOS;
    }

    private void forgot() {
        forgottenNanos = simulation.world.nanoTime();
    }

    /** Exclusion is not promised between what was granted on these names before and after now. */
    public void forgot(Iterable<String> names) {
        forgot();
        for (String name : names) {
            forgotten.put(name, simulation.world.nanoTime());
            simulation.recorder.event(Kind.FORGOT, "server", "lock", name);
        }
    }

    void killed() {
        killed = true;
    }

    /** Its machine is gone without the servers noticing. */
    void vanished(SimProcess process) {
        if (vanished != SimSite.Vanished.BRIEF) {
            vanished = process.isTakenForBrief() ? SimSite.Vanished.BRIEF : SimSite.Vanished.SOME;
        }
    }

    /**
     * @param name what the servers call it
     * @param began when it was asked for
     */
    void granted(SimProcess process, String who, String name, Lease lease, int weight, int capacity, long began) {
        if (!tokens.add(name + " " + lease.fencingToken())) {
            throw simulation.violation("token " + lease.fencingToken() + " of " + name + " was given out twice");
        }
        handOffs += began < endedNanos.getOrDefault(name, NEVER) ? 1 : 0;
        localHandOffs += lease.fencingToken() % TOKENS_OF_A_HOLD > 0 ? 1 : 0;
        given.add(new Given(process, who, name, lease, weight, capacity));
        afterEachEvent();
    }

    /** A lease is about to be released, or has been lost. */
    void ended(Lease lease) {
        afterEachEvent();
        for (int i = 0; i < given.size(); i++) {
            if (given.get(i).lease == lease) {
                leave(i);
                return;
            }
        }
    }

    private void leave(int index) {
        Given one = given.remove(index);
        endedNanos.put(one.name, simulation.world.nanoTime());
        if (one.lastValid >= 0) {
            simulation.recorder.validAt(one.lastValid, one.who);
        }
    }

    /**
     * A lease that a wall clock ended is valid again when that clock is put back, if nobody has looked at it in the
     * meantime: a user who looks ends it for good, and these checks do not look as users do.
     */
    void wallsJumped() {
        forgot();
        given.forEach(one -> one.over = false);
    }

    /** Somebody has a lease, and continues with it. */
    boolean isInUse() {
        return !given.isEmpty();
    }

    /**
     * A bounded wait overruns by no more than the time that it gives its first command for an answer; one attempt lasts
     * as long as its command.
     */
    void waited(SimProcess process, String who, LockOptions options, long tookNanos) {
        if (options.waitAtMost().isPresent()) {
            long wait = options.waitAtMost().get().toNanos();
            long last = wait == 0 ? simulation.site.attemptNanosMax() : wait + FIRST_ANSWER_NANOS;
            long most = (long) (last * 1.01) + 1_000_000;
            if (tookNanos > most) {
                throw simulation.violation(who + " waited " + tookNanos / 1_000_000 + " ms, " + options);
            }
        }
    }

    void afterEachEvent() {
        for (int i = 0; i < given.size(); ) {
            Given one = given.get(i);
            if (!one.process.isAlive() || VerifyEngine.hasEnded(one.lease)) {
                leave(i);
            } else {
                i++;
            }
        }
        long now = simulation.world.nanoTime();
        for (int i = 0; i < given.size(); i++) {
            Given one = given.get(i);
            boolean held = VerifyEngine.isHeld(one.lease);
            if (held && one.over) {
                throw simulation.violation("a lease that was over is valid again: token " + one.lease.fencingToken()
                        + " of " + one.name + ", " + one.who);
            }
            one.over = !held;
            if (held) {
                one.lastValid = now;
            }
        }
        given.forEach(this::checkCapacity);
    }

    /** What is older than this lease and still valid was there when it was granted, so together they are not too much. */
    private void checkCapacity(Given youngest) {
        if (youngest.over) {
            return;
        }
        int weight = youngest.weight;
        for (int i = 0; i < given.size(); i++) {
            Given older = given.get(i);
            if (!older.over
                    && older.name.equals(youngest.name)
                    && older.lease.fencingToken() < youngest.lease.fencingToken()
                    && !isExcused(older, youngest)) {
                weight += older.weight;
                if (weight > youngest.capacity) {
                    throw simulation.violation("two valid leases on " + youngest.name + ": token "
                            + older.lease.fencingToken() + ", " + older.who + ", and token "
                            + youngest.lease.fencingToken() + ", " + youngest.who
                            + (youngest.capacity == 1
                                    ? ""
                                    : "; with those between them, they weigh " + weight + " of " + youngest.capacity));
                }
            }
        }
    }

    private boolean isExcused(Given one, Given other) {
        return epochOf(one) != epochOf(other)
                && simulation.world.nanoTime() - forgotten.getOrDefault(one.name, NEVER) < NOTICED_NANOS;
    }

    private int epochOf(Given one) {
        return simulation.site.epochOf(one.name, one.lease.fencingToken() / TOKENS_OF_A_HOLD);
    }

    /** Nobody holds or waits or is paused, and neither the processes nor the servers remember anything of it. */
    boolean isAtRest() {
        return given.isEmpty()
                && simulation.site.used().isEmpty()
                && simulation.processes.stream()
                        .filter(SimProcess::isAlive)
                        .allMatch(process -> process.waiting == 0
                                && !process.time.isPaused()
                                && process.left().isEmpty());
    }

    Findings atTheEnd() {
        for (SimProcess process : simulation.processes) {
            if (!process.isAlive()) {
                continue;
            }
            if (process.waiting != 0) {
                throw simulation.violation(process.waiting + " waiters of " + process.id + " had no outcome");
            }
            if (!process.left().isEmpty()) {
                throw simulation.violation("left at " + process.id + ": " + process.left());
            }
        }
        if (!simulation.site.used().isEmpty()) {
            throw simulation.violation("left at the servers: " + simulation.site.used());
        }
        Findings findings = checker().check(simulation.recorder.history());
        if (!findings.held()) {
            throw simulation.violation("the history is not in order: "
                    + String.join(
                            "; ",
                            findings.violations()
                                    .subList(
                                            0, Math.min(3, findings.violations().size()))));
        }
        return findings;
    }

    /**
     * A dead client that waits for several permits, or to write, may be granted one as late as it is taken for alive:
     * after that, the permit is not free for as long again, as if it had asked for a short lease.
     */
    private SimSite.Vanished vanished() {
        if (!simulation.pooling && !simulation.reading) {
            return vanished;
        }
        if (vanished != SimSite.Vanished.NOBODY) {
            return SimSite.Vanished.BRIEF;
        }
        return killed ? SimSite.Vanished.NOTICED : SimSite.Vanished.NOBODY;
    }

    private HistoryChecker checker() {
        HistoryChecker.Builder checker =
                HistoryChecker.builder().lease(NOTICED_NANOS).waitSlack(simulation.site.attemptNanosMax() + 60_000_000);
        if (simulation.calm) {
            checker.idleAtMost(simulation.site.idleNanosMax(vanished()));
            if (!simulation.hasHerd() && !simulation.reading) {
                checker.permitsInOrder(ORDER_NANOS);
            }
        }
        return checker.build();
    }
}
