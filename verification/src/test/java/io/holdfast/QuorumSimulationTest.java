package io.holdfast;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The real engine and the real quorum store under virtual time, many histories. Options: see {@link SimRuns}. */
class QuorumSimulationTest {

    private static final long SEEDS = Long.getLong("seeds", Long.getLong("holdfast.seeds", 2_000) / 20);

    /** Within so many histories each seeded bug must be found. */
    private static final long SEEDS_FOR_BUGS = 200;

    @BeforeAll
    static void quiet() {
        SimRuns.quiet();
    }

    @AfterAll
    static void loud() {
        SimRuns.loud();
    }

    private static Simulation simulation(long seed, QuorumBug bug) {
        return new Simulation(seed, new LeaseRules(), simulation -> new SimQuorumSite(simulation, bug));
    }

    @Test
    void histories_without_a_violation() {
        SimRuns.assertHold(SEEDS, 20, seed -> simulation(seed, QuorumBug.NONE));
    }

    @Test
    void the_same_seed_is_the_same_history() {
        SimRuns.assertRepeats(8, seed -> simulation(seed, QuorumBug.NONE));
    }

    @ParameterizedTest(name = "{0}")
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "NONE")
    void finds_wrong_members(QuorumBug bug) {
        long from = switch (bug) {
            case EMPTY_MEMBER_VOTES_AT_ONCE -> 220;
            case TOKEN_WRITTEN_BACK_WITHOUT_COMPARISON -> 320;
            default -> 1;
        };
        SimRuns.assertFound(bug.name(), from, SEEDS_FOR_BUGS, seed -> simulation(seed, bug));
    }

    @Test
    void finds_validity_that_is_counted_from_the_reply() {
        LeaseRules wrong = SimRuns.validityFromTheReply();
        SimRuns.assertFound(
                "validity from the reply",
                SEEDS_FOR_BUGS,
                seed -> new Simulation(seed, wrong, simulation -> new SimQuorumSite(simulation, QuorumBug.NONE)));
    }
}
