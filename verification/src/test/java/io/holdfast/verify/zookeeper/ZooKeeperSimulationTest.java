package io.holdfast.verify.zookeeper;

import io.holdfast.engine.VerifyEngine.Rules;
import io.holdfast.verify.engine.SimRuns;
import io.holdfast.verify.engine.Simulation;
import io.holdfast.verify.engine.SimulationSuite;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The real ZooKeeper store over a simulated ensemble. */
class ZooKeeperSimulationTest extends SimulationSuite {

    ZooKeeperSimulationTest() {
        super(20, 20);
    }

    @Override
    protected Simulation simulation(long seed, Rules rules) {
        return simulation(seed, rules, EnsembleBug.NONE);
    }

    private static Simulation simulation(long seed, Rules rules, EnsembleBug bug) {
        return new Simulation(seed, rules, simulation -> new SimZooKeeperSite(simulation, bug));
    }

    @Tag("deep")
    @ParameterizedTest(name = "{0}")
    @EnumSource(
            mode = EnumSource.Mode.MATCH_NONE,
            names = {"NONE", "POOL_.*"})
    void finds_wrong_stores(EnsembleBug bug) {
        SimRuns.assertFound(bug.name(), seed -> simulation(seed, Rules.RIGHT, bug));
    }
}
