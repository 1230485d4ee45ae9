package io.holdfast.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.Inside;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class DueQueueTest extends EngineFixture {

    private final NameEngine engine = new NameEngine(Inside.engine(client), "a");

    private Hold hold() {
        return new Hold(engine, 1, 1, new Deadline(0, 0), 0, 0, 0, 0);
    }

    @ParameterizedTest
    @ValueSource(longs = {0, Long.MAX_VALUE - 20, Long.MIN_VALUE + 20})
    void gives_the_first_whatever_enters_moves_and_leaves(long origin) {
        for (int seed = 1; seed <= 50; seed++) {
            SplittableRandom random = new SplittableRandom(seed);
            DueQueue queue = new DueQueue();
            Map<Hold, Long> expected = new HashMap<>();
            List<Hold> holds = new ArrayList<>();
            for (int i = 0; i < 100; i++) {
                holds.add(hold());
            }
            for (int step = 0; step < 2_000; step++) {
                Hold hold = holds.get(random.nextInt(holds.size()));
                int kind = random.nextInt(10);
                if (kind < 6) {
                    // Nearby times, so that many are equal; around an overflow of the clock.
                    long due = origin + random.nextInt(40);
                    queue.schedule(hold, due);
                    expected.put(hold, due - origin);
                } else if (kind == 6 && !expected.isEmpty()) {
                    long due = queue.firstNanos() - origin;
                    assertThat(expected.remove(queue.takeFirst())).isEqualTo(due);
                } else {
                    queue.remove(hold);
                    expected.remove(hold);
                }
                assertThat(queue.size()).isEqualTo(expected.size());
                if (!expected.isEmpty()) {
                    long earliest = expected.values().stream()
                            .mapToLong(Long::longValue)
                            .min()
                            .orElseThrow();
                    assertThat(queue.firstNanos() - origin).isEqualTo(earliest);
                }
            }
            for (long last = Long.MIN_VALUE; !expected.isEmpty(); ) {
                long due = queue.firstNanos() - origin;
                assertThat(due).isGreaterThanOrEqualTo(last);
                last = due;
                Hold first = queue.takeFirst();
                assertThat(expected.remove(first)).isEqualTo(due);
                assertThat(first.dueIndex).isEqualTo(-1);
            }
            assertThat(queue.size()).isZero();
        }
    }
}
