package io.holdfast.quorum;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.spi.StoreHealth;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** What a health page shows of a quorum: which members answer, and which of them have a vote. */
class QuorumHealthTest extends QuorumFixture {

    private static final String NOBODY_LOCKS_IT = "holdfast:health";

    @Test
    void tells_how_many_members_vote_and_why_the_others_do_not() {
        Client a = new Client();
        assertThat(await(a.store.health(NOBODY_LOCKS_IT)))
                .isEqualTo(new StoreHealth(true, Map.of("members", 3, "needed", 2, "reachable", 3, "voting", 3)));

        a.troubles.get(1).stopped = true;
        StoreHealth without = await(a.store.health(NOBODY_LOCKS_IT));
        assertThat(without.usable()).isTrue();
        assertThat(without.details()).containsEntry("reachable", 2).containsEntry("voting", 2);
        assertThat(without.details().get("withoutVote")).asString().contains("m1 did not answer");

        a.troubles.get(2).stopped = true;
        StoreHealth lost = await(a.store.health(NOBODY_LOCKS_IT));
        assertThat(lost.usable()).isFalse();
        assertThat(lost.details()).containsEntry("voting", 1).containsEntry("needed", 2);
    }

    /** The member answers, but an answer of a member that has lost its data does not count. */
    @Test
    void tells_a_member_that_is_there_from_one_that_votes() {
        Client a = new Client();
        nodes.get(0).restartEmpty();
        var unused = await(a.store.health(NOBODY_LOCKS_IT));
        time.advance(Duration.ofSeconds(1));
        StoreHealth health = await(a.store.health(NOBODY_LOCKS_IT));
        assertThat(health.usable()).isTrue();
        assertThat(health.details()).containsEntry("reachable", 3).containsEntry("voting", 2);
        assertThat(health.details().get("withoutVote")).asString().contains("m0 was restarted or is new");
    }
}
