package io.holdfast.verify.model;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class StateSearchTest {

    /** Two processes that add one to a counter in two steps each, with or without a lock. */
    private record State(int counter, int lock, List<Integer> at, List<Integer> read) {

        List<StateSearch.Step<State>> next(boolean locking) {
            List<StateSearch.Step<State>> steps = new ArrayList<>();
            for (int p = 0; p < 2; p++) {
                if (at.get(p) == 0 && (!locking || lock < 0)) {
                    steps.add(new StateSearch.Step<>(
                            "p" + p + " reads", new State(counter, p, with(at, p, 1), with(read, p, counter))));
                } else if (at.get(p) == 1) {
                    steps.add(new StateSearch.Step<>(
                            "p" + p + " writes", new State(read.get(p) + 1, -1, with(at, p, 2), read)));
                }
            }
            return steps;
        }

        boolean isOver() {
            return at.equals(List.of(2, 2));
        }

        private static List<Integer> with(List<Integer> list, int index, int value) {
            List<Integer> copy = new ArrayList<>(list);
            copy.set(index, value);
            return List.copyOf(copy);
        }
    }

    private static final State BEGIN = new State(0, -1, List.of(0, 0), List.of(0, 0));

    private static StateSearch<State> search(boolean locking) {
        return new StateSearch<>(
                state -> state.next(locking), state -> state.isOver() && state.counter() != 2 ? "lost" : null, 1_000);
    }

    @Test
    void finds_the_shortest_story_of_a_violation() {
        var result = search(false).search(BEGIN);
        assertThat(result.violation()).startsWith("lost\nbegin\n");
        assertThat(result.violation().lines()).hasSize(1 + 1 + 4 + 1);
    }

    @Test
    void visits_all_states_when_there_is_none() {
        var search = search(true);
        assertThat(search.search(BEGIN)).isEqualTo(new StateSearch.Result(9, true, null));
        assertThat(search.stuck(State::isOver)).isNull();
    }

    @Test
    void tells_a_state_from_which_there_is_no_way_out() {
        var search = new StateSearch<Integer>(
                n -> n == 0 ? List.of(new StateSearch.Step<>("trap", 1), new StateSearch.Step<>("home", 2)) : List.of(),
                n -> null,
                10);
        search.search(0);
        assertThat(search.stuck(n -> n == 2)).isEqualTo("begin\ntrap\n1");
    }
}
