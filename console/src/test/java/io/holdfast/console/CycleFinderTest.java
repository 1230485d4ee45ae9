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

    /** Two busy programs: the threads that hold the locks are at work, and other threads wait. */
    @Test
    void waitsOfOtherThreadsAreOnlyPossiblyADeadlock() {
        CycleFinder finder = finder(
                TestCards.of("a").holds("x", 1).thread(2).waits("y", 3),
                TestCards.of("b").holds("y", 2).thread(2).waits("x", 3));
        assertThat(finder.deadlocks()).isEmpty();
        assertThat(finder.possible()).singleElement().satisfies(cycle -> {
            assertThat(cycle.isDeadlock()).isFalse();
            assertThat(cycle.steps()).extracting(Step::holds).containsExactly("x", "y");
        });
        // It is enough that one of them does not wait with the thread that holds.
        assertThat(find(
                        TestCards.of("a").holds("x", 1).waits("y", 3),
                        TestCards.of("b").holds("y", 2).thread(2).waits("x", 3)))
                .isEmpty();
    }

    @Test
    void leasesThatAnyThreadMayReleaseAreOnlyPossiblyADeadlock() {
        CycleFinder finder = finder(
                TestCards.of("a").anyThread().holds("x", 1).waits("y", 3),
                TestCards.of("b").anyThread().holds("y", 2).waits("x", 3));
        assertThat(finder.deadlocks()).isEmpty();
        assertThat(finder.possible()).hasSize(1);
    }

    /** Each of two processes campaigns for both leaderships, and leads one: so it is meant to be. */
    @Test
    void candidatesThatWaitForEachOtherAreNoDeadlock() {
        assertThat(finder(
                                TestCards.of("a")
                                        .anyThread()
                                        .holds("leader:x", 1)
                                        .waits("leader:y", 3),
                                TestCards.of("b")
                                        .anyThread()
                                        .holds("leader:y", 2)
                                        .waits("leader:x", 3))
                        .possible())
                .isEmpty();
    }

    /** The same clients may have a hundred such pairs of locks. */
    @Test
    void aPersonLooksAtTheSameClientsOnce() {
        assertThat(finder(
                                TestCards.of("a")
                                        .holds("x", 1)
                                        .holds("x2", 3)
                                        .thread(2)
                                        .waits("y", 3)
                                        .waits("y2", 3),
                                TestCards.of("b")
                                        .holds("y", 2)
                                        .holds("y2", 4)
                                        .thread(2)
                                        .waits("x", 3)
                                        .waits("x2", 3))
                        .possible())
                .hasSize(1);
        CycleFinder finder = finder(
                TestCards.of("a").holds("x", 1).waits("y", 3).thread(2).holds("x2", 3),
                TestCards.of("b").holds("y", 2).waits("x", 3).thread(2).waits("x2", 4));
        assertThat(finder.deadlocks()).hasSize(1);
        assertThat(finder.possible()).isEmpty();
    }

    /** Cards are of different moments: this wait began after the word of the other client. */
    @Test
    void whatDidNotStandAtOnceIsNoCycle() {
        CycleFinder finder = finder(
                TestCards.of("a").heard(4).anyThread().holds("x", 1).waits("y", 5),
                TestCards.of("b").heard(1).holds("y", 2).waits("x", 3));
        assertThat(finder.possible()).hasSize(1).noneMatch(Cycle::stoodAtOnce);
        finder = finder(
                TestCards.of("a").heard(4).anyThread().holds("x", 1).waits("y", 5),
                TestCards.of("b").heard(1).holds("y", 2).waits("x", 5));
        assertThat(finder.possible()).hasSize(1).allMatch(Cycle::stoodAtOnce);
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
        return finder(cards).deadlocks();
    }

    private static CycleFinder finder(TestCards... cards) {
        List<ClientCard> all = Stream.of(cards).map(TestCards::card).toList();
        CycleFinder finder = new CycleFinder(all);
        finder.find();
        return finder;
    }
}
