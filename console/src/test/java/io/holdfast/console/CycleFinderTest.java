package io.holdfast.console;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import io.holdfast.ClientCard;
import io.holdfast.console.Cycle.Step;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class CycleFinderTest {

    @Test
    void twoClientsWaitForEachOther() {
        List<Cycle> cycles = find(
                TestCards.of("a").holds("x", 1).waits("y", 3),
                TestCards.of("b").holds("y", 2).waits("x", 4));
        assertThat(cycles).hasSize(1);
        assertThat(cycles.get(0).steps())
                .extracting(step -> step.client().application(), Step::holds, Step::holderId, Step::waitsFor)
                .containsExactly(tuple("a", "x", "hf-a:1", "y"), tuple("b", "y", "hf-b:2", "x"));
    }

    @Test
    void threeClientsInARing() {
        assertThat(find(
                        TestCards.of("a").holds("x", 1).waits("y", 3),
                        TestCards.of("b").holds("y", 2).waits("z", 3),
                        TestCards.of("c").holds("z", 3).waits("x", 3),
                        TestCards.of("d").waits("x", 9)))
                .singleElement()
                .satisfies(cycle -> assertThat(cycle.steps()).hasSize(3));
    }

    @Test
    void aQueueIsNoCycle() {
        assertThat(find(
                        TestCards.of("a").holds("x", 1),
                        TestCards.of("b").holds("y", 2).waits("x", 3),
                        TestCards.of("c").holds("z", 3).waits("y", 3).waits("x", 2)))
                .isEmpty();
    }

    /** Its own threads hold and wait: that is for the client itself to find. */
    @Test
    void aClientThatWaitsForItselfIsNoCycle() {
        assertThat(find(TestCards.of("a").holds("x", 1).waits("x", 3))).isEmpty();
    }

    /** A card is older than the hand-off that the other card has. */
    @Test
    void theLargerTokenIsTheNewerHold() {
        assertThat(find(
                        TestCards.of("a").holds("x", 1).waits("y", 3),
                        TestCards.of("b").holds("y", 2).waits("x", 3),
                        TestCards.of("c").holds("y", 7)))
                .isEmpty();
    }

    /** The thread that waits does not hold the other lock, so its end is not needed for a release. */
    @Test
    void otherThreadsOfAClientAreNoCycle() {
        assertThat(find(
                        TestCards.of("a").holds("x", 1, "main", null, 0).waits("y", 3, 1, "worker"),
                        TestCards.of("b").holds("y", 2).waits("x", 3)))
                .isEmpty();
        assertThat(find(
                        TestCards.of("a").holds("x", 1, "main", null, 0).waits("y", 3, 1, "main"),
                        TestCards.of("b").holds("y", 2).waits("x", 3)))
                .hasSize(1);
    }

    /** Anybody may write cards: all clients wait for all others. */
    @Test
    void manyCardsEndTheSearch() {
        List<TestCards> cards = new ArrayList<>();
        for (int i = 0; i < 60; i++) {
            TestCards card = TestCards.of("c" + i).holds("l" + i, i + 1);
            for (int j = 0; j < 60; j++) {
                if (i != j) {
                    card.waits("l" + j, 5);
                }
            }
            cards.add(card);
        }
        assertThat(find(cards.toArray(TestCards[]::new))).isNotEmpty();
    }

    private static List<Cycle> find(TestCards... cards) {
        List<ClientCard> all = Stream.of(cards).map(TestCards::card).toList();
        return new CycleFinder(all).find();
    }
}
