package io.holdfast.verify.engine;

import io.holdfast.engine.VerifyEngine.Rules;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * Plays many histories of the real engine over one kind of store under virtual time. A subclass makes the store, and
 * adds the seeded bugs that its histories must show.
 *
 * <p>{@code -Dseeds=N} plays N histories, from {@code -Dfirst=M} on; {@code -Dseed=N} plays one again and prints it.
 */
@ExtendWith(QuietLogs.class)
public abstract class SimulationSuite {

    private static final long SEEDS = Long.getLong("holdfast.seeds", 500);

    private final long seeds;
    private final long grantsOfEach;

    /**
     * @param share one of so many seeds of a build is played: histories over some stores take longer
     * @param grantsOfEach at least so many leases are granted in a history on average
     */
    protected SimulationSuite(long share, long grantsOfEach) {
        this.seeds = Long.getLong("seeds", SEEDS / share);
        this.grantsOfEach = grantsOfEach;
    }

    protected abstract Simulation simulation(long seed, Rules rules);

    @Test
    void histories_without_a_violation() {
        SimRuns.assertHold(seeds, grantsOfEach, seed -> simulation(seed, Rules.RIGHT));
    }

    @Test
    void the_same_seed_is_the_same_history() {
        // One history shows what is not deterministic in most of them.
        SimRuns.assertRepeats(Boolean.getBoolean("holdfast.quick") ? 1 : 4, seed -> simulation(seed, Rules.RIGHT));
    }
}
