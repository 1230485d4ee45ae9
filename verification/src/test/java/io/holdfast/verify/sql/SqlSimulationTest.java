package io.holdfast.verify.sql;

import io.holdfast.engine.VerifyEngine.Rules;
import io.holdfast.verify.engine.SimRuns;
import io.holdfast.verify.engine.Simulation;
import io.holdfast.verify.engine.SimulationSuite;
import io.holdfast.verify.sql.SimSqlSite.Season;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
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

    /** Within a few histories. */
    @Tag("deep")
    @ParameterizedTest(name = "{0}")
    @EnumSource(
            names = {
                "VERSION_NOT_COMPARED",
                "CLOCK_OF_THE_CLIENT",
                "ENQUEUE_WRITES_ENDS",
                "NEWEST_NOT_ASKED_FOR",
                "SKIPS_TO_AN_OLDER_ROW",
                "GRANT_KEEPS_THE_BASE",
                "ENTRY_STAYS_AFTER_ITS_GRANT",
                "LATE_TAKE",
                "TAKES_MIXED_UP"
            })
    void finds_wrong_statements(SqlBug bug) {
        SimRuns.assertFound(bug.name(), seed -> simulation(seed, Rules.RIGHT, bug));
    }

    /** Within up to thousands of histories, so not in each build: {@code -Drare=true -Dshort=locks}. */
    @Tag("deep")
    @EnabledIfSystemProperty(named = "rare", matches = "true")
    @ParameterizedTest(name = "{0}")
    @EnumSource(
            names = {
                "WRITE_AFTER_MAKE",
                "PURGE_BY_KEYS",
                "UNCONFIRMED_COMMIT_COUNTS",
                "RELEASE_IGNORES_THE_QUEUE",
                "TAKE_NEED_NOT_BE_SYNCED"
                // The others: see SqlScheduleTest.
            })
    void finds_rarely_seen_wrong_statements(SqlBug bug) {
        SimRuns.assertFound(bug.name(), seed -> simulation(seed, Rules.RIGHT, bug));
    }

    /** The same, in histories that all have takeovers behind a pooler. */
    @Tag("deep")
    @EnabledIfSystemProperty(named = "rare", matches = "true")
    @Test
    void finds_a_write_on_another_server_than_the_read() {
        SqlBug bug = SqlBug.WRITTEN_ON_ANOTHER_SERVER;
        SimRuns.assertFound(
                bug.name(),
                seed -> new Simulation(
                        seed,
                        Rules.RIGHT,
                        simulation -> new SimSqlSite(simulation, bug, Season.POOLER, simulation.calm)));
    }
}
