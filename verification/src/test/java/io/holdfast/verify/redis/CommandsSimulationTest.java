package io.holdfast.verify.redis;

import io.holdfast.engine.VerifyEngine.Rules;
import io.holdfast.verify.engine.SimRuns;
import io.holdfast.verify.engine.Simulation;
import io.holdfast.verify.engine.SimulationSuite;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * The real store of the mode "commands", with the driver's own encoding and decoding, over a model of Redis.
 */
class CommandsSimulationTest extends SimulationSuite {

    private static final long SEEDS_FOR_BUGS = 40;
    private static final long FIRST_FOR_BUGS = 50;

    CommandsSimulationTest() {
        super(20, 20);
    }

    @Override
    protected Simulation simulation(long seed, Rules rules) {
        return simulation(seed, rules, CommandsBug.NONE);
    }

    private static Simulation simulation(long seed, Rules rules, CommandsBug bug) {
        return new Simulation(seed, rules, simulation -> new SimCommandsSite(simulation, bug));
    }

    @ParameterizedTest(name = "{0}")
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "NONE")
    void finds_wrong_commands(CommandsBug bug) {
        long from = switch (bug) {
            case TOKENS_WITHOUT_THE_LAST -> 120;
            case RENEWS_WHAT_IS_GONE -> 1;
            case WATCH_IS_FORGOTTEN -> 70;
            case RENEWAL_WITHOUT_COMPARISON -> 1_000;
            default -> FIRST_FOR_BUGS;
        };
        SimRuns.assertFound(bug.name(), from, SEEDS_FOR_BUGS, seed -> simulation(seed, Rules.RIGHT, bug));
    }
}
