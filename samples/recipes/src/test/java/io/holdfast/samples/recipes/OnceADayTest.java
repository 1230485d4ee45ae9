package io.holdfast.samples.recipes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.LocalDate;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.Test;

class OnceADayTest {

    private static final LocalDate DAY = LocalDate.of(2026, 3, 1);

    private final Queue<LocalDate> reports = new ConcurrentLinkedQueue<>();

    /** The clocks of the nodes differ: the second node begins when the report of the first is ready. */
    @Test
    void each_day_has_one_report_even_if_nodes_come_late() throws Exception {
        try (Fleet fleet = Fleet.of(4)) {
            for (int round = 0; round < 3; round++) {
                fleet.all((locks, node) -> new OnceADay(locks, reports::add).make(DAY));
            }
            fleet.all((locks, node) -> new OnceADay(locks, reports::add).make(DAY.plusDays(1)));
        }
        assertThat(reports).containsExactly(DAY, DAY.plusDays(1));
    }

    @Test
    void without_the_lock_a_day_has_several_reports() throws Exception {
        try (Fleet fleet = Fleet.withoutCommonStore(4)) {
            fleet.all((locks, node) -> new OnceADay(locks, reports::add).make(DAY));
        }
        assertThat(reports).hasSize(4);
    }

    /** As the recipe for one node shows, releasing the lock at the end of the work is not enough. */
    @Test
    void the_day_stays_locked_after_its_node_has_ended() {
        try (Fleet fleet = Fleet.of(2)) {
            assertThat(new OnceADay(fleet.node(0), reports::add).make(DAY)).isTrue();
            fleet.node(0).close();
            assertThat(new OnceADay(fleet.node(1), reports::add).make(DAY)).isFalse();
        }
    }

    @Test
    void another_node_makes_a_report_that_failed() {
        try (Fleet fleet = Fleet.of(2)) {
            OnceADay failing = new OnceADay(fleet.node(0), day -> {
                throw new IllegalStateException("no data");
            });
            assertThatThrownBy(() -> failing.make(DAY)).hasMessage("no data");
            assertThat(new OnceADay(fleet.node(1), reports::add).make(DAY)).isTrue();
        }
    }
}
