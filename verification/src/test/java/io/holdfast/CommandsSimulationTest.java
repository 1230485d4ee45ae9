package io.holdfast;

import io.holdfast.redis.CommandsBug;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * The real engine and the real store of the mode without Lua, with the driver's own encoding and decoding, under virtual
 * time over a model of Redis; many histories. Options: see {@link SimRuns}.
 */
class CommandsSimulationTest {

    private static final long SEEDS = Long.getLong("seeds", Long.getLong("holdfast.seeds", 2_000) / 20);

    /** Within so many histories each seeded bug must be found; from one on from which a build need not play many. */
    private static final long SEEDS_FOR_BUGS = 40;

    private static final long FIRST_FOR_BUGS = 50;

    @BeforeAll
    static void quiet() {
        SimRuns.quiet();
    }

    @AfterAll
    static void loud() {
        SimRuns.loud();
    }

    private static Simulation simulation(long seed, CommandsBug bug) {
        return new Simulation(seed, new LeaseRules(), simulation -> new SimCommandsSite(simulation, bug));
    }

    @Test
    void histories_without_a_violation() {
        SimRuns.assertHold(SEEDS, 20, seed -> simulation(seed, CommandsBug.NONE));
    }

    @Test
    void the_same_seed_is_the_same_history() {
        SimRuns.assertRepeats(4, seed -> simulation(seed, CommandsBug.NONE));
    }

    @ParameterizedTest(name = "{0}")
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "NONE")
    void finds_wrong_commands(CommandsBug bug) {
        long from = switch (bug) {
            case RENEWAL_WITHOUT_COMPARISON -> 110;
            case WATCH_IS_FORGOTTEN -> 70;
            case TOKENS_WITHOUT_THE_LAST -> 150;
            case RENEWS_WHAT_IS_GONE -> 1;
            default -> FIRST_FOR_BUGS;
        };
        SimRuns.assertFound(bug.name(), from, SEEDS_FOR_BUGS, seed -> simulation(seed, bug));
    }

    @Test
    void finds_validity_that_is_counted_from_the_reply() {
        LeaseRules wrong = SimRuns.validityFromTheReply();
        SimRuns.assertFound(
                "validity from the reply",
                FIRST_FOR_BUGS,
                SEEDS_FOR_BUGS,
                seed -> new Simulation(seed, wrong, simulation -> new SimCommandsSite(simulation, CommandsBug.NONE)));
    }
}
