package io.holdfast;

import io.holdfast.zookeeper.EnsembleBug;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The real engine and the real store on ZooKeeper under virtual time, many histories. Options: see {@link SimRuns}. */
class ZooKeeperSimulationTest {

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

    private static Simulation simulation(long seed, EnsembleBug bug) {
        return new Simulation(seed, new LeaseRules(), simulation -> new SimZooKeeperSite(simulation, bug));
    }

    @Test
    void histories_without_a_violation() {
        SimRuns.assertHold(SEEDS, 20, seed -> simulation(seed, EnsembleBug.NONE));
    }

    @Test
    void the_same_seed_is_the_same_history() {
        SimRuns.assertRepeats(8, seed -> simulation(seed, EnsembleBug.NONE));
    }

    @ParameterizedTest(name = "{0}")
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "NONE")
    void finds_wrong_stores(EnsembleBug bug) {
        long from = switch (bug) {
            case PROMISE_FROM_THE_WRITE -> 120;
            case PROOF_IS_A_READ -> 105;
            default -> 1;
        };
        SimRuns.assertFound(bug.name(), from, SEEDS_FOR_BUGS, seed -> simulation(seed, bug));
    }
}
