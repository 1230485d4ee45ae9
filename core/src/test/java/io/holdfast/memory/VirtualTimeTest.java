package io.holdfast.memory;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.spi.TimeSource;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class VirtualTimeTest {

    private final VirtualTime time = new VirtualTime();

    /** Compared with a list that is sorted: what was scheduled and not cancelled, by time and order of scheduling. */
    @Test
    void what_is_cancelled_leaves_and_the_rest_runs_in_order() {
        record Planned(long at, int number, TimeSource.Timer timer) {}
        SplittableRandom random = new SplittableRandom(1);
        List<Integer> ran = new ArrayList<>();
        List<Planned> expected = new ArrayList<>();
        for (int i = 0; i < 5_000; i++) {
            int number = i;
            long at = random.nextLong(1_000);
            expected.add(new Planned(at, number, time.schedule(at, () -> ran.add(number))));
            if (random.nextInt(3) > 0) {
                expected.remove(random.nextInt(expected.size())).timer().cancel();
            }
            assertThat(time.pending()).isEqualTo(expected.size());
        }
        time.advance(Duration.ofNanos(1_000));
        expected.sort(Comparator.comparingLong(Planned::at).thenComparingInt(Planned::number));
        assertThat(ran)
                .containsExactlyElementsOf(
                        expected.stream().map(Planned::number).toList());
        assertThat(time.pending()).isZero();
    }

    @Test
    void a_task_that_runs_or_has_run_is_not_in_the_way_of_its_cancellation() {
        List<TimeSource.Timer> own = new ArrayList<>();
        List<String> ran = new ArrayList<>();
        own.add(time.schedule(5, () -> {
            own.get(0).cancel();
            ran.add("first");
        }));
        time.schedule(6, () -> ran.add("second"));
        assertThat(time.runNext()).isTrue();
        own.get(0).cancel();
        assertThat(time.runNext()).isTrue();
        assertThat(time.runNext()).isFalse();
        assertThat(ran).containsExactly("first", "second");
    }
}
