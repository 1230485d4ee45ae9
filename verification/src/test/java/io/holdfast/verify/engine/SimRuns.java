package io.holdfast.verify.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.history.Findings;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongFunction;
import java.util.stream.IntStream;
import java.util.stream.LongStream;

/**
 * Plays many simulations. {@code -Dseeds=N} plays N of them, from {@code -Dfirst=M} on; {@code -Dseed=N} plays one
 * again and prints it.
 */
public final class SimRuns {

    private static final long FIRST = Long.getLong("first", 1);

    /** The rarest bug shows in one history of some hundreds. */
    private static final long SEEDS_FOR_BUGS = 4_000;

    /** Within so many histories each bug of permits, of read-write locks and of leaderships must show. */
    public static final long SEEDS_FOR_POOLS = 1_000;

    private SimRuns() {}

    private static boolean isReplay() {
        return Long.getLong("seed") != null;
    }

    private static Tally play(long seeds, LongFunction<Simulation> maker) {
        Tally tally = new Tally();
        Long one = Long.getLong("seed");
        if (one != null) {
            replay(maker.apply(one));
            return tally;
        }
        long began = System.nanoTime();
        LongStream.range(FIRST, FIRST + seeds).parallel().forEach(seed -> tally.play(maker.apply(seed)));
        System.out.printf("%d histories in %.1f s: %s%n", seeds, (System.nanoTime() - began) / 1e9, tally);
        return tally;
    }

    /** Plays them; and fails if they did not get far, as a run that never could break a rule proves nothing. */
    static void assertHold(long seeds, long grantsOfEach, LongFunction<Simulation> maker) {
        Tally tally = play(seeds, maker);
        if (isReplay()) {
            return;
        }
        if (SimPlan.IS_SHORT) {
            // Which kinds of users there are is a matter of chance, or of choice.
            assertThat(tally.granted + tally.terms).isGreaterThan(5 * seeds);
            assertThat(tally.handOffs + tally.terms).isGreaterThan(seeds);
            return;
        }
        assertThat(tally.granted()).isGreaterThan(grantsOfEach * seeds);
        assertThat(tally.lost()).isPositive();
        assertThat(tally.timedOut()).isPositive();
        assertThat(tally.withdrawn()).isPositive();
        assertThat(tally.rejected()).isPositive();
        assertThat(tally.damage()).isPositive();
        assertThat(tally.nested).isGreaterThan(5 * seeds);
        assertThat(tally.toldOfLoss).isPositive();
        assertThat(tally.extended).isGreaterThan(seeds);
        assertThat(tally.refusedOthers).isPositive();
        // A quarter of the histories has candidates: in a few histories there may be none.
        assertThat(tally.terms).isGreaterThanOrEqualTo(seeds / 50);
        // Every second history over a store that has permits uses them.
        assertThat(tally.permits).isGreaterThanOrEqualTo(tally.hasPools ? 10 * seeds : 0);
        // Every fourth one uses a read-write lock.
        assertThat(tally.reads).isGreaterThanOrEqualTo(tally.hasPools ? 2 * seeds : 0);
        assertThat(tally.writes).isGreaterThanOrEqualTo(tally.hasPools ? seeds / 2 : 0);
    }

    private static void replay(Simulation simulation) {
        try {
            System.out.println(simulation.run());
        } finally {
            simulation.timeline().forEach(System.out::println);
        }
    }

    static void assertRepeats(long seeds, LongFunction<Simulation> maker) {
        for (long seed = 1; seed <= seeds; seed++) {
            Simulation first = maker.apply(seed);
            Simulation second = maker.apply(seed);
            first.run();
            second.run();
            assertThat(second.timeline()).isEqualTo(first.timeline());
            assertThat(second.recorder.history()).isEqualTo(first.recorder.history());
        }
    }

    /** Plays histories until one shows the bug. Any change of the engine changes which of them do: no seed is skipped. */
    public static void assertFound(String bug, LongFunction<Simulation> maker) {
        assertFound(bug, SEEDS_FOR_BUGS, maker);
    }

    /** Plays at most so many histories until one shows the bug. */
    public static void assertFound(String bug, long seeds, LongFunction<Simulation> maker) {
        // In the order of the seeds, on all processors: halves of the range, as a parallel stream makes, take longer.
        AtomicLong next = new AtomicLong(1);
        AtomicBoolean found = new AtomicBoolean();
        int processors = ForkJoinPool.getCommonPoolParallelism() + 1;
        IntStream.range(0, processors).parallel().forEach(worker -> {
            for (long seed = next.getAndIncrement(); seed <= seeds && !found.get(); seed = next.getAndIncrement()) {
                if (fails(bug, maker.apply(seed))) {
                    found.set(true);
                }
            }
        });
        assertThat(found).as("%s, within %d histories", bug, seeds).isTrue();
    }

    private static boolean fails(String bug, Simulation simulation) {
        try {
            simulation.run();
            return false;
        } catch (AssertionError e) {
            System.out.println("found: " + bug + ", by "
                    + String.valueOf(e.getMessage()).lines().findFirst().orElse(""));
            return true;
        }
    }

    /** Sums over histories; thread-safe. */
    public static final class Tally {
        private long granted;
        private long lost;
        private long timedOut;
        private long withdrawn;
        private long failed;
        private long rejected;
        private long damage;
        private long died;
        private int overtakes;
        private long nested;
        private long refusedOthers;
        private long toldOfLoss;
        private long extended;
        private long terms;
        private long permits;
        private long reads;
        private long writes;
        private long handOffs;
        private long localHandOffs;
        private boolean hasPools;

        /** Plays a history, which must hold. */
        public void play(Simulation simulation) {
            add(simulation, simulation.run());
        }

        private synchronized void add(Simulation simulation, Findings findings) {
            granted += findings.granted();
            lost += findings.lost();
            timedOut += findings.timedOut();
            withdrawn += findings.withdrawn();
            failed += findings.failed();
            rejected += findings.rejected();
            damage += findings.damage();
            died += findings.died();
            overtakes = Math.max(overtakes, findings.overtakes());
            nested += simulation.locks.nested;
            refusedOthers += simulation.locks.refusedOthers;
            toldOfLoss += simulation.locks.toldOfLoss;
            extended += simulation.locks.extended;
            terms += simulation.terms;
            permits += simulation.permitsGranted();
            reads += simulation.reads();
            writes += simulation.writes();
            handOffs += simulation.checks.handOffs;
            localHandOffs += simulation.checks.localHandOffs;
            hasPools |= simulation.site.hasPools();
        }

        long granted() {
            return granted;
        }

        long lost() {
            return lost;
        }

        long timedOut() {
            return timedOut;
        }

        long withdrawn() {
            return withdrawn;
        }

        long rejected() {
            return rejected;
        }

        long damage() {
            return damage;
        }

        @Override
        public String toString() {
            return granted + " grants, " + handOffs + " after a wait for somebody else, " + localHandOffs
                    + " by a hand-off within a process, " + lost + " leases lost, " + timedOut + " waits timed out, "
                    + withdrawn
                    + " withdrawn, " + failed + " failed, " + died + " processes killed, " + rejected
                    + " stale writes rejected by tokens, " + damage + " additions lost without them, at most "
                    + overtakes
                    + " overtakes; " + nested + " times locked again, " + refusedOthers
                    + " times not by another thread, " + toldOfLoss + " unlocks that told of a loss; " + extended
                    + " leases extended; " + terms + " terms of leaders; " + permits
                    + " permits granted; " + reads + " reads and " + writes + " writes under a read-write lock";
        }
    }
}
