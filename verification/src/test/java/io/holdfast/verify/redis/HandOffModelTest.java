package io.holdfast.verify.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.verify.model.StateSearch;
import org.junit.jupiter.api.Test;

/** Every state that {@link HandOffModel} can reach: exclusion, and a way to the end from each. */
class HandOffModelTest {

    private static final int STATES_MAX = 200_000;

    @Test
    void two_clients_that_take_the_lock_twice() {
        assertHolds(2, 2, 1, 0);
    }

    @Test
    void two_clients_with_commands_that_are_executed_twice() {
        assertHolds(2, 1, 3, 1);
    }

    @Test
    void three_clients() {
        assertHolds(3, 1, 1, 0);
    }

    @Test
    void finds_a_pushed_grant_that_is_taken_for_a_lease() {
        assertThat(search(new HandOffModel(1, 3, true), 2, 0, ScriptBug.NONE)).contains("two hold");
    }

    private static void assertHolds(int clients, int uses, int polls, int duplicates) {
        HandOffModel model = new HandOffModel(uses, polls, false);
        var search = new StateSearch<>(model::next, HandOffModel::violation, STATES_MAX);
        var result = search.search(HandOffModel.initial(clients, duplicates, ScriptBug.NONE));
        System.out.printf(
                "hand-off, %d clients, %d uses, %d duplicates: %d states%n",
                clients, uses, duplicates, result.states());
        assertThat(result.violation()).isNull();
        assertThat(result.complete()).as("complete").isTrue();
        assertThat(search.stuck(model::isOver)).isNull();
    }

    private static String search(HandOffModel model, int clients, int duplicates, ScriptBug bug) {
        return String.valueOf(new StateSearch<>(model::next, HandOffModel::violation, STATES_MAX)
                .search(HandOffModel.initial(clients, duplicates, bug))
                .violation());
    }
}
