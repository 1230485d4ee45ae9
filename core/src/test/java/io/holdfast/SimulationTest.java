package io.holdfast;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.history.Findings;
import io.holdfast.spi.TimeSource;
import java.util.Optional;
import java.util.logging.Level;
import java.util.logging.Logger;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The real engine under virtual time, many histories.
 *
 * <p>{@code -Dseeds=N} plays N of them, from {@code -Dfirst=M} on; {@code -Dseed=N} plays one again and prints it.
 */
class SimulationTest {

    private static final long SEEDS = Long.getLong("seeds", Long.getLong("holdfast.seeds", 2_000));
    /** Within so many histories each seeded bug must be found. */
    private static final long SEEDS_FOR_BUGS = 200;

    private static final long FIRST = Long.getLong("first", 1);

    /** A bad network is all that these warnings are about. Held, because loggers are collected otherwise. */
    private static final Logger LOG = Logger.getLogger(LockClient.class.getName());

    @BeforeAll
    static void quiet() {
        LOG.setLevel(Level.OFF);
    }

    @AfterAll
    static void loud() {
        LOG.setLevel(null);
    }

    @Test
    void histories_without_a_violation() {
        Long one = Long.getLong("seed");
        if (one != null) {
            play(one);
            return;
        }
        long began = System.nanoTime();
        Tally tally = new Tally();
        LongStream.range(FIRST, FIRST + SEEDS)
                .parallel()
                .forEach(seed -> tally.add(new Simulation(seed, Simulation.Bugs.NONE).run()));
        System.out.printf("%d histories in %.1f s: %s%n", SEEDS, (System.nanoTime() - began) / 1e9, tally);
        // A run that never got far enough to break a rule proves nothing.
        assertThat(tally.granted).isGreaterThan(50 * SEEDS);
        assertThat(tally.lost).isPositive();
        assertThat(tally.timedOut).isPositive();
        assertThat(tally.withdrawn).isPositive();
        assertThat(tally.rejected).isPositive();
        assertThat(tally.damage).isPositive();
    }

    @Test
    void the_same_seed_is_the_same_history() {
        for (long seed = 1; seed <= 8; seed++) {
            Simulation first = new Simulation(seed, Simulation.Bugs.NONE);
            Simulation second = new Simulation(seed, Simulation.Bugs.NONE);
            first.run();
            second.run();
            assertThat(second.timeline()).isEqualTo(first.timeline());
            assertThat(second.recorder.history()).isEqualTo(first.recorder.history());
        }
    }

    /** Seeded bugs of the engine. */
    static Stream<Arguments> rules() {
        return Stream.of(
                Arguments.of("validity counted from the reply instead of the sending", new LeaseRules() {
                    @Override
                    Deadline deadline(Sent sent, Sent replied, long leaseNanos) {
                        return super.deadline(replied, replied, leaseNanos);
                    }
                }),
                Arguments.of("a pushed grant counted from the arrival of its message", new LeaseRules() {
                    @Override
                    Deadline pushedDeadline(Sent asked, long sinceAskingNanos, Sent heard, long leaseNanos) {
                        return deadline(heard, heard, leaseNanos);
                    }
                }),
                Arguments.of("a renewal accepted after the old deadline", new LeaseRules() {
                    @Override
                    boolean renewalCounts(Deadline old, TimeSource time) {
                        return true;
                    }
                }));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("rules")
    void finds_wrong_rules(String bug, LeaseRules rules) {
        assertFound(bug, new Simulation.Bugs(rules, ScriptBug.NONE, false));
    }

    /** The scripts' seeded bugs that the users of locks can notice. The others are found by {@link ScriptModelTest}. */
    @ParameterizedTest(name = "{0}")
    @EnumSource(
            names = {
                "RELEASE_WITHOUT_OWNER_CHECK",
                "RESEND_COUNTS_TWICE",
                "RENEWAL_REVIVES",
                "GRANT_IS_NOT_SENT",
                "RELEASE_GRANTS_NOBODY",
                "LONG_FIRST_LEASE",
                "DEAD_ENTRIES_ARE_GRANTED",
                "DEAF_CLIENTS_ARE_GRANTED",
                "POLL_DOES_NOT_STAMP",
                "NO_NOT_AFTER",
                "ABANDON_KEEPS_THE_HOLD",
                "BASE_WITHOUT_CLOCK",
                "BASE_WITHOUT_COUNT"
            })
    void finds_wrong_scripts(ScriptBug bug) {
        assertFound(bug.name(), new Simulation.Bugs(new LeaseRules(), bug, false));
    }

    @Test
    void finds_that_nothing_is_withdrawn_after_an_interrupt() {
        assertFound("no compensation", new Simulation.Bugs(new LeaseRules(), ScriptBug.NONE, true));
    }

    private static void assertFound(String bug, Simulation.Bugs bugs) {
        assertThat(LongStream.rangeClosed(1, SEEDS_FOR_BUGS)
                        .mapToObj(seed -> failure(bug, seed, bugs))
                        .flatMap(Optional::stream)
                        .findFirst())
                .as("%s, within %d histories", bug, SEEDS_FOR_BUGS)
                .isPresent();
    }

    private static Optional<String> failure(String bug, long seed, Simulation.Bugs bugs) {
        try {
            new Simulation(seed, bugs).run();
            return Optional.empty();
        } catch (AssertionError e) {
            System.out.println("found: " + bug + ", by "
                    + String.valueOf(e.getMessage()).lines().findFirst().orElse(""));
            return Optional.of(String.valueOf(e.getMessage()));
        }
    }

    private static void play(long seed) {
        Simulation simulation = new Simulation(seed, Simulation.Bugs.NONE);
        try {
            System.out.println(simulation.run());
        } finally {
            simulation.timeline().forEach(System.out::println);
        }
    }

    /** Sums over histories; thread-safe. */
    private static final class Tally {
        private long granted;
        private long lost;
        private long timedOut;
        private long withdrawn;
        private long failed;
        private long rejected;
        private long damage;
        private long died;
        private int overtakes;

        synchronized void add(Findings findings) {
            granted += findings.granted();
            lost += findings.lost();
            timedOut += findings.timedOut();
            withdrawn += findings.withdrawn();
            failed += findings.failed();
            rejected += findings.rejected();
            damage += findings.damage();
            died += findings.died();
            overtakes = Math.max(overtakes, findings.overtakes());
        }

        @Override
        public String toString() {
            return granted + " grants, " + lost + " leases lost, " + timedOut + " waits timed out, " + withdrawn
                    + " withdrawn, " + failed + " failed, " + died + " processes killed, " + rejected
                    + " stale writes rejected by tokens, " + damage + " additions lost without them, at most "
                    + overtakes
                    + " overtakes";
        }
    }
}
