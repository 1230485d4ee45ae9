package io.holdfast.verify.redis;

import io.holdfast.engine.VerifyEngine.Rules;
import io.holdfast.verify.engine.SimRuns;
import io.holdfast.verify.engine.Simulation;
import io.holdfast.verify.engine.SimulationSuite;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * The real store of the mode "commands", with the driver's own encoding and decoding, over a model of Redis.
 */
class CommandsSimulationTest extends SimulationSuite {

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

    @Tag("deep")
    @ParameterizedTest(name = "{0}")
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "NONE")
    void finds_wrong_commands(CommandsBug bug) {
        SimRuns.assertFound(bug.name(), seed -> simulation(seed, Rules.RIGHT, bug));
    }
}
