package io.holdfast.quorum;

import io.holdfast.spi.QuorumMember.Seen;
import io.holdfast.spi.StoreHealth;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionStage;

/** Asks every member, waits for all of them, and reports how many answer and how many of those have a vote. */
final class QuorumHealth {

    private QuorumHealth() {}

    /** @param name a name that nobody locks */
    static CompletionStage<StoreHealth> ask(Members members, String name) {
        return Round.<Seen, StoreHealth>run(
                members,
                seat -> seat.send(member -> member.inspect(name)),
                Seen::standing,
                replies -> replies.pending() > 0 ? null : of(replies));
    }

    private static StoreHealth of(Replies<Seen> replies) {
        int voting = replies.members() - replies.withoutVote();
        Map<String, Object> details = new LinkedHashMap<>();
        details.put("members", replies.members());
        details.put("needed", replies.majority());
        details.put("reachable", replies.answers().size());
        details.put("voting", voting);
        List<String> reasons = replies.reasons();
        if (!reasons.isEmpty()) {
            details.put("withoutVote", reasons);
        }
        return new StoreHealth(voting >= replies.majority(), details);
    }
}
