package io.holdfast.verify.redis;

import io.holdfast.LeaderBug;
import io.holdfast.engine.PoolBug;
import io.holdfast.engine.VerifyEngine.Rules;
import io.holdfast.verify.engine.ReentryBug;
import io.holdfast.verify.engine.SimRuns;
import io.holdfast.verify.engine.SimSite;
import io.holdfast.verify.engine.Simulation;
import io.holdfast.verify.engine.SimulationSuite;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** One Redis server with the scripts. */
class SimulationTest extends SimulationSuite {

    /** Matches the names of the bugs of {@link PoolBug} that read-write locks show. */
    private static final String OF_READERS = ".*READ.*|.*WRITE.*|SERVING_STOPS_AFTER_ONE_GRANT";

    SimulationTest() {
        super(1, 50);
    }

    private static SimSite server(Simulation simulation) {
        return new SimServerSite(simulation, ScriptBug.NONE, false);
    }

    @Override
    protected Simulation simulation(long seed, Rules rules) {
        return new Simulation(seed, rules, SimulationTest::server);
    }

    @ParameterizedTest(name = "{0}")
    @EnumSource(
            mode = EnumSource.Mode.EXCLUDE,
            names = {"RIGHT", "RENEWAL_COUNTS_AFTER_THE_DEADLINE"})
    void finds_wrong_rules(Rules rules) {
        SimRuns.assertFound(rules.name(), seed -> simulation(seed, rules));
    }

    /** Shows in so few histories that the search takes as long as all other tests of this class. */
    @Tag("deep") // quick: the test above
    @Test
    void finds_that_a_renewal_counts_after_the_deadline() {
        Rules rules = Rules.RENEWAL_COUNTS_AFTER_THE_DEADLINE;
        SimRuns.assertFound(rules.name(), seed -> simulation(seed, rules));
    }

    /** The scripts' seeded bugs that the users of locks can notice. The others are found by {@link ScriptModelTest}. */
    @Tag("deep")
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
        assertFound(bug.name(), bug, false);
    }

    @Test
    void finds_that_nothing_is_withdrawn_after_an_interrupt() {
        assertFound("no compensation", ScriptBug.NONE, true);
    }

    /** Seeded bugs of the lock that threads own: every second history has such threads, and most of them show it. */
    @Tag("deep")
    @ParameterizedTest(name = "{0}")
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "NONE")
    void finds_wrong_reentry(ReentryBug bug) {
        SimRuns.assertFound(
                bug.name(),
                seed -> new Simulation(seed, Rules.RIGHT, bug, LeaderBug.NONE, PoolBug.NONE, SimulationTest::server));
    }

    /** Seeded bugs of the leadership: every fourth history has candidates, and most of these show it. */
    @Tag("deep")
    @ParameterizedTest(name = "{0}")
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "NONE")
    void finds_wrong_leaders(LeaderBug bug) {
        SimRuns.assertFound(
                bug.name(),
                SimRuns.SEEDS_FOR_POOLS,
                seed -> new Simulation(seed, Rules.RIGHT, ReentryBug.NONE, bug, PoolBug.NONE, SimulationTest::server));
    }

    /** Seeded bugs of permits: every second history uses them. */
    @Tag("deep") // quick: finds_wrong_rules, and PermitHistoriesTest of core
    @ParameterizedTest(name = "{0}")
    @EnumSource(
            mode = EnumSource.Mode.MATCH_NONE,
            names = {"NONE", OF_READERS})
    void finds_wrong_permits(PoolBug bug) {
        assertFound(bug);
    }

    /** Seeded bugs of read-write locks: every fourth history uses one. */
    @Tag("deep")
    @ParameterizedTest(name = "{0}")
    @EnumSource(mode = EnumSource.Mode.MATCH_ANY, names = OF_READERS)
    void finds_wrong_readers(PoolBug bug) {
        assertFound(bug);
    }

    private static void assertFound(PoolBug bug) {
        SimRuns.assertFound(
                bug.name(),
                SimRuns.SEEDS_FOR_POOLS,
                seed -> new Simulation(
                        seed, Rules.RIGHT, ReentryBug.NONE, LeaderBug.NONE, bug, SimulationTest::server));
    }

    private static void assertFound(String bug, ScriptBug script, boolean losesAbandons) {
        SimRuns.assertFound(
                bug,
                seed -> new Simulation(
                        seed, Rules.RIGHT, simulation -> new SimServerSite(simulation, script, losesAbandons)));
    }
}
