package io.holdfast.verify.quorum;

import io.holdfast.engine.VerifyEngine.Rules;
import io.holdfast.verify.engine.SimRuns;
import io.holdfast.verify.engine.Simulation;
import io.holdfast.verify.engine.SimulationSuite;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The real quorum store over simulated members. */
class QuorumSimulationTest extends SimulationSuite {

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

    @Tag("deep")
    @ParameterizedTest(name = "{0}")
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "NONE")
    void finds_wrong_members(QuorumBug bug) {
        SimRuns.assertFound(bug.name(), seed -> simulation(seed, Rules.RIGHT, bug));
    }
}
