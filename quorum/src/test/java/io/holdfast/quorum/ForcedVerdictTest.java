package io.holdfast.quorum;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.spi.ForceReply;
import io.holdfast.spi.StoreContext;
import io.holdfast.spi.StoreException;
import io.holdfast.spi.StoreException.Outcome;
import java.util.List;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** What a release by force says when its members disagree, or some have no vote. */
class ForcedVerdictTest extends QuorumFixture {

    private static final ForceReply FREE = new ForceReply.Free();
    private static final ForceReply ENDED_A = new ForceReply.Ended("a:1~1");

    /** The same hold by its second round of votes. */
    private static final ForceReply ENDED_A_AGAIN = new ForceReply.Ended("a:1~2");

    private static final ForceReply HELD_BY_B = new ForceReply.HeldBy("b:1~1");
    private static final ForceReply HELD_BY_C = new ForceReply.HeldBy("c:1~1");

    private final List<Seat> seats =
            IntStream.range(0, 5).mapToObj(i -> new Seat(i, "m" + i, () -> {})).toList();

    /** {@code null}: that member has no vote. */
    private @Nullable ForceReply verdict(@Nullable ForceReply... answers) {
        Replies<ForceReply> replies = new Replies<>(new Members("redlock", seats, time, new QuorumSettings()));
        for (int i = 0; i < answers.length; i++) {
            ForceReply answer = answers[i];
            if (answer == null) {
                replies.failed(i, new StoreException(Outcome.NOT_EXECUTED, "m" + i + " is down", null));
            } else {
                replies.answered(i, answer, true);
            }
        }
        return Verdicts.forced(replies);
    }

    @Test
    void a_majority_decides_as_soon_as_it_is_complete() {
        assertThat(verdict(ENDED_A, ENDED_A_AGAIN, ENDED_A)).isEqualTo(new ForceReply.Ended("a:1"));
        assertThat(verdict(HELD_BY_B, HELD_BY_B, HELD_BY_B)).isEqualTo(new ForceReply.HeldBy("b:1"));
        assertThat(verdict(HELD_BY_B, HELD_BY_B, FREE, null)).isNull();
    }

    /** Together with the members that nobody can ask, the named holder may have a majority. */
    @Test
    void who_may_have_the_majority_holds() {
        assertThat(verdict(HELD_BY_B, HELD_BY_B, FREE, FREE, null)).isEqualTo(new ForceReply.HeldBy("b:1"));
        assertThat(verdict(HELD_BY_B, FREE, FREE, null, null)).isEqualTo(new ForceReply.HeldBy("b:1"));
        assertThat(verdict(HELD_BY_B, HELD_BY_B, HELD_BY_C, FREE, null)).isEqualTo(new ForceReply.HeldBy("b:1"));
        assertThat(verdict(ENDED_A, FREE, FREE, null, null)).isEqualTo(new ForceReply.Ended("a:1"));
    }

    @Test
    void what_only_a_minority_has_is_no_hold() {
        assertThat(verdict(HELD_BY_B, FREE, FREE, FREE, null)).isEqualTo(FREE);
        assertThat(verdict(HELD_BY_B, HELD_BY_B, FREE, FREE, FREE)).isEqualTo(FREE);
        assertThat(verdict(HELD_BY_B, HELD_BY_B, HELD_BY_C, HELD_BY_C, FREE)).isEqualTo(FREE);
        assertThat(verdict(ENDED_A, ENDED_A, FREE, FREE, FREE)).isEqualTo(FREE);
    }

    /** The end of the expected hold comes first: that is what was asked for. */
    @Test
    void an_end_counts_before_another_holder() {
        assertThat(verdict(ENDED_A, ENDED_A, HELD_BY_B, HELD_BY_B, null)).isEqualTo(new ForceReply.Ended("a:1"));
        assertThat(verdict(ENDED_A, HELD_BY_B, HELD_BY_B, null, null)).isEqualTo(new ForceReply.Ended("a:1"));
        assertThat(verdict(ENDED_A, HELD_BY_B, HELD_BY_B, FREE, null)).isEqualTo(new ForceReply.HeldBy("b:1"));
    }

    @Test
    void too_few_votes_are_a_failure() {
        assertThatThrownBy(() -> verdict(HELD_BY_B, HELD_BY_B, null, null, null))
                .isInstanceOf(StoreException.class)
                .hasMessageContaining("m2 is down");
    }

    /** One member has the hold, another one lost it, and the third is down. */
    @Test
    void members_that_disagree_name_the_holder_that_may_have_a_majority() {
        Client a = new Client();
        Client b = new Client();
        String holder = b.newId();
        b.granted(holder);
        QuorumMember stranger = nodes.get(1).connect(new StoreContext("stranger", time));
        assertThat(await(stranger.forceRelease(NAME, null))).isInstanceOf(ForceReply.Ended.class);
        a.troubles.get(0).down = true;

        assertThat(await(a.store.forceRelease(NAME, a.newId()))).isEqualTo(new ForceReply.HeldBy(holder));
        assertThat(await(a.store.forceRelease(NAME, holder))).isEqualTo(new ForceReply.Ended(holder));
        assertThat(await(a.store.forceRelease(NAME, holder))).isEqualTo(FREE);
    }
}
