package io.holdfast.verify.sql;

import io.holdfast.engine.VerifyEngine.Rules;
import io.holdfast.verify.engine.SimRuns;
import io.holdfast.verify.engine.Simulation;
import io.holdfast.verify.engine.SimulationSuite;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The real store on a database, over a model of its rows. */
class SqlSimulationTest extends SimulationSuite {

    /** A history takes ten times as long as one of Redis: a command takes several steps. */
    SqlSimulationTest() {
        super(10, 20);
    }

    @Override
    protected Simulation simulation(long seed, Rules rules) {
        return simulation(seed, rules, SqlBug.NONE);
    }

    private static Simulation simulation(long seed, Rules rules, SqlBug bug) {
        return new Simulation(seed, rules, simulation -> new SimSqlSite(simulation, bug));
    }

    @Tag("deep")
    @ParameterizedTest(name = "{0}")
    @EnumSource(
            mode = EnumSource.Mode.EXCLUDE,
            names = {
                "NONE",
                // Neither in a thousand histories. A waiter asks anew after a takeover, so hardly a grant has an older
                // date.
                "DATED_ACROSS_SERVERS",
                // Each synced commit keeps those before it, and there is one every few milliseconds.
                "TAKE_NEED_NOT_BE_SYNCED"
            })
    void finds_wrong_statements(SqlBug bug) {
        SimRuns.assertFound(bug.name(), seed -> simulation(seed, Rules.RIGHT, bug));
    }
}
