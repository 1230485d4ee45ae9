package io.holdfast.verify.engine;

import io.holdfast.engine.VerifyEngine.Rules;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/**
 * Plays many histories of the real engine over one kind of store under virtual time. A subclass makes the store, and
 * adds the seeded bugs that its histories must show.
 *
 * <p>{@code -Dseeds=N} plays N histories, from {@code -Dfirst=M} on; {@code -Dseed=N} plays one again and prints it.
 */
public abstract class SimulationSuite {

    private static final long SEEDS = Long.getLong("holdfast.seeds", 500);

    private final long seeds;
    private final long grantsOfEach;
    private final long firstForBugs;
    private final long seedsForBugs;

    /**
     * @param share one of so many seeds of a build is played: histories over some stores take longer
     * @param grantsOfEach at least so many leases are granted in a history on average
     * @param firstForBugs the first seed that is played to find a bug, so that a build need not play many that find
     *     nothing
     * @param seedsForBugs within so many histories each seeded bug must be found
     */
    protected SimulationSuite(long share, long grantsOfEach, long firstForBugs, long seedsForBugs) {
        this.seeds = Long.getLong("seeds", SEEDS / share);
        this.grantsOfEach = grantsOfEach;
        this.firstForBugs = firstForBugs;
        this.seedsForBugs = seedsForBugs;
    }

    protected abstract Simulation simulation(long seed, Rules rules);

    @BeforeAll
    static void quiet() {
        SimRuns.quiet();
    }

    @AfterAll
    static void loud() {
        SimRuns.loud();
    }

    @Test
    void histories_without_a_violation() {
        SimRuns.assertHold(seeds, grantsOfEach, seed -> simulation(seed, Rules.RIGHT));
    }

    @Test
    void the_same_seed_is_the_same_history() {
        SimRuns.assertRepeats(4, seed -> simulation(seed, Rules.RIGHT));
    }

    /** Plays histories until one shows that the engine's rules are wrong. */
    protected final void assertFound(Rules wrong) {
        SimRuns.assertFound(wrong.name(), firstForBugs, seedsForBugs, seed -> simulation(seed, wrong));
    }
}
