package io.holdfast.quorum;

import io.holdfast.spi.QuorumMember.Seen;
import io.holdfast.spi.StoreException;
import io.holdfast.spi.StoreHealth;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionStage;

/** Asks every member, and waits for all of them: how many are there, and how many of those have a vote. */
final class QuorumHealth {

    private QuorumHealth() {}

    /** @param name of which nothing needs to be known */
    static CompletionStage<StoreHealth> ask(Members members, String name) {
        return Round.<Seen, StoreHealth>run(
                members,
                seat -> seat.send(member -> member.inspect(name)),
                Seen::standing,
                replies -> replies.pending() > 0 ? null : of(members, replies),
                new Round.Observer<>() {});
    }

    private static StoreHealth of(Members members, Replies<Seen> replies) {
        int voting = replies.members() - replies.withoutVote();
        List<String> withoutVote = new ArrayList<>();
        for (Seat seat : members.seats()) {
            StoreException why = replies.failure(seat.index);
            if (why != null) {
                withoutVote.add(String.valueOf(why.getMessage()));
            } else if (!replies.countsAt(seat.index)) {
                withoutVote.add(seat.whyNoVote());
            }
        }
        Map<String, Object> details = new LinkedHashMap<>();
        details.put("members", replies.members());
        details.put("needed", replies.majority());
        details.put("reachable", replies.answers().size());
        details.put("voting", voting);
        if (!withoutVote.isEmpty()) {
            details.put("withoutVote", withoutVote);
        }
        return new StoreHealth(voting >= replies.majority(), details);
    }
}
