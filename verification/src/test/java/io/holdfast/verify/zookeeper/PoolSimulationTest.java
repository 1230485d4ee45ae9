package io.holdfast.verify.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.verify.engine.QuietLogs;
import io.holdfast.verify.engine.SimRuns;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The real view of pools over a simulated ensemble. {@code -Dseeds=N} plays N histories, {@code -Dfirst=M} from M on. */
@ExtendWith(QuietLogs.class)
class PoolSimulationTest {

    private static final long FIRST = Long.getLong("first", 1);
    private static final long SEEDS = Long.getLong("seeds", 60);

    private static final long SEEDS_FOR_BUGS = SimRuns.SEEDS_FOR_POOLS;

    @Test
    void no_limit_is_passed_and_nobody_is_overtaken() {
        AtomicInteger granted = new AtomicInteger();
        AtomicInteger lost = new AtomicInteger();
        LongStream.range(FIRST, FIRST + SEEDS).parallel().forEach(seed -> {
            PoolHistory history = new PoolHistory(seed, EnsembleBug.NONE);
            try {
                history.run();
            } catch (AssertionError | RuntimeException e) {
                throw new AssertionError("seed " + seed + ": " + e.getMessage(), e);
            }
            granted.addAndGet(history.granted);
            lost.addAndGet(history.lost);
        });
        System.out.printf("%d histories: %s granted, %s lost%n", SEEDS, granted, lost);
        assertThat(granted).hasValueGreaterThan((int) (20 * SEEDS));
        assertThat(lost).hasPositiveValue();
    }

    /** Those about tokens, paused clocks and grants without a look are left to the histories of locks. */
    @Tag("deep")
    @ParameterizedTest
    @EnumSource(
            mode = EnumSource.Mode.EXCLUDE,
            names = {
                "NONE",
                "PROMISE_FROM_THE_WRITE",
                "TOKEN_IS_THE_NODES_NUMBER",
                "DELETION_IS_TOLD_TOO_SOON",
                "ONE_NODE_BEFORE_IS_SEEN",
                "NUMBERS_LEAVE_OTHERS_OUT",
                "NEW_FOLDER_IS_TAKEN_FOR_THE_OLD"
            })
    void finds_wrong_stores(EnsembleBug bug) {
        boolean found = LongStream.range(1, SEEDS_FOR_BUGS).anyMatch(seed -> fails(seed, bug));
        assertThat(found).as("%s, within %d histories", bug, SEEDS_FOR_BUGS).isTrue();
    }

    private static boolean fails(long seed, EnsembleBug bug) {
        try {
            new PoolHistory(seed, bug).run();
            return false;
        } catch (AssertionError e) {
            System.out.println("found: " + bug + ", in history " + seed + ", by " + e.getMessage());
            return true;
        }
    }
}
