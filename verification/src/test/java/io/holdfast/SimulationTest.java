package io.holdfast;

import io.holdfast.spi.ClockReading;
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
    private static final long SEEDS_FOR_BUGS = 1_000;

    @BeforeAll
    static void quiet() {
        SimRuns.quiet();
    }

    @AfterAll
    static void loud() {
        SimRuns.loud();
    }

    @Test
    void histories_without_a_violation() {
        SimRuns.assertHold(SEEDS, 50, seed -> new Simulation(seed, Simulation.Bugs.NONE));
    }

    @Test
    void the_same_seed_is_the_same_history() {
        SimRuns.assertRepeats(8, seed -> new Simulation(seed, Simulation.Bugs.NONE));
    }

    /** Seeded bugs of the engine. */
    static Stream<Arguments> rules() {
        return Stream.of(
                Arguments.of("validity counted from the reply instead of the sending", SimRuns.validityFromTheReply()),
                Arguments.of("a pushed grant counted from the arrival of its message", new LeaseRules() {
                    @Override
                    Deadline pushedDeadline(
                            ClockReading asked, long sinceAskingNanos, ClockReading heard, long leaseNanos) {
                        return deadline(heard, heard, leaseNanos);
                    }
                }),
                Arguments.of("a renewal accepted after the old deadline", new LeaseRules() {
                    @Override
                    boolean renewalCounts(Deadline old, ClockReading now) {
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

    /** Seeded bugs of the lock that threads own: every second history has such threads, and most of them show it. */
    @ParameterizedTest(name = "{0}")
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "NONE")
    void finds_wrong_reentry(ReentryBug bug) {
        SimRuns.assertFound(bug.name(), SEEDS_FOR_BUGS, seed -> new Simulation(seed, bug));
    }

    private static void assertFound(String bug, Simulation.Bugs bugs) {
        SimRuns.assertFound(bug, SEEDS_FOR_BUGS, seed -> new Simulation(seed, bugs));
    }
}
