package io.holdfast.quorum;

import io.holdfast.quorum.QuorumMember.Extended;
import io.holdfast.quorum.QuorumMember.Found;
import io.holdfast.quorum.QuorumMember.Released;
import io.holdfast.quorum.QuorumMember.Seen;
import io.holdfast.quorum.QuorumMember.Vote;
import io.holdfast.quorum.QuorumMember.Written;
import io.holdfast.spi.ForceReply;
import io.holdfast.spi.StoreException;
import io.holdfast.spi.StoreState;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Function;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;

/**
 * Makes the verdict of a round from its answers. Pure: no I/O, no time. Each method returns null while the verdict
 * depends on answers that are still missing, and never when all have arrived. So a round ends as early as it can, and
 * does not wait for a slow member that makes no difference. Most methods throw {@link StoreException} if too few
 * members have a vote.
 */
final class Verdicts {

    private Verdicts() {}

    /** The verdict on a request for the lock. */
    sealed interface Taken {

        /**
         * A majority granted it.
         *
         * @param token their answers to the proposed token
         * @param voters bit {@code i}: member {@code i} granted it
         */
        record Won(TokenRound token, int voters, int waiting) implements Taken {}

        /** A majority says that one other id has the lock. */
        record Held(String holder, long remainingMillis) implements Taken {}

        /** No client has a visible majority: several clients try at once, or too many members have no vote. */
        record Split(String holder, boolean someHaveNoVote) implements Taken {}
    }

    static @Nullable Taken taken(Replies<Vote> replies, long proposal) {
        int granted = replies.count(Vote::holds);
        if (granted >= replies.majority()) {
            return won(replies, proposal);
        }
        if (granted + replies.pending() >= replies.majority()) {
            return null;
        }
        if (replies.tooFewVotes()) {
            throw replies.noMajority();
        }
        String rival = mostNamed(replies, Vote::holder);
        int votes = replies.count(vote -> vote.holder().equals(rival));
        if (votes >= replies.majority()) {
            return new Taken.Held(
                    rival,
                    majorityLasts(replies, vote -> vote.holder().equals(rival) ? lasts(vote.remainingMillis()) : 0));
        }
        return votes + replies.pending() >= replies.majority()
                ? null
                : new Taken.Split(rival, replies.withoutVote() > 0);
    }

    private static Taken won(Replies<Vote> replies, long proposal) {
        TokenRound token = TokenRound.propose(replies.members(), proposal);
        int voters = 0;
        int waiting = 0;
        for (int i = 0; i < replies.members(); i++) {
            Vote vote = replies.vote(i);
            if (vote != null) {
                voters |= vote.holds() ? 1 << i : 0;
                token = token.answered(i, vote.accepted(), vote.register());
                waiting = Math.max(waiting, vote.waiting());
            }
        }
        return new Taken.Won(token, voters, waiting);
    }

    /**
     * Returns the round of tokens after the answers to a commit: committed or refused.
     *
     * <p>Only members that granted the lock count: as long as locks exclude, they write the token before they grant the
     * lock to the next id. Another member may have granted the lock to the next id already, and accepted a smaller
     * token for it.
     *
     * @param voters as in {@link Taken.Won}
     */
    static @Nullable TokenRound committed(Replies<Written> replies, TokenRound began, int voters) {
        TokenRound round = began;
        for (int i = 0; i < replies.members(); i++) {
            Written written = (voters & 1 << i) != 0 ? replies.vote(i) : null;
            if (written != null) {
                round = round.answered(i, written.accepted(), written.register());
            }
        }
        if (round.isCommitted() || round.isRefused()) {
            return round;
        }
        if (replies.pending() == 0 || replies.tooFewVotes()) {
            throw replies.noMajority();
        }
        return null;
    }

    /** The verdict on a renewal. */
    enum Renewal {
        RENEWED,
        /** A majority does not have the hold. */
        GONE,
        SUPERSEDED,
        /** There is neither a majority for the hold nor one against it. */
        UNDECIDED
    }

    static @Nullable Renewal renewed(Replies<Extended> replies) {
        int held = replies.count(extended -> extended.found() == Found.HELD);
        int superseded = replies.count(extended -> extended.found() == Found.SUPERSEDED);
        int gone = replies.count(extended -> extended.found() == Found.ABSENT || extended.found() == Found.TAKEN);
        if (held >= replies.majority()) {
            return Renewal.RENEWED;
        }
        if (gone >= replies.majority()) {
            return Renewal.GONE;
        }
        if (replies.pending() > 0) {
            return null;
        }
        return held + superseded >= replies.majority() && superseded > 0 ? Renewal.SUPERSEDED : Renewal.UNDECIDED;
    }

    /** The verdict on a release: whether there was a hold to end. */
    enum Ending {
        HELD,
        /** A majority did not have the hold. */
        NOT_HELD,
        /** Too few members have answered, or they do not agree. */
        UNKNOWN
    }

    /** The end of a claim, and the number of clients that wait for the name. */
    record Ended(Ending ending, int waiting) {}

    static @Nullable Ended released(Replies<Released> replies) {
        int held = replies.count(Released::wasHeld);
        int notHeld = replies.count(released -> !released.wasHeld());
        Ending ending = held >= replies.majority()
                ? Ending.HELD
                : notHeld >= replies.majority() ? Ending.NOT_HELD : Ending.UNKNOWN;
        return ending == Ending.UNKNOWN && replies.pending() > 0
                ? null
                : new Ended(ending, replies.max(Released::waiting));
    }

    /**
     * Returns the verdict on a release by force, with the holder id as callers know it. A hold that a majority had, or
     * may have had, is ended: members without a vote are too few to keep it. What only a minority had was no hold.
     */
    static @Nullable ForceReply forced(Replies<ForceReply> replies) {
        Function<ForceReply, String> victim =
                reply -> reply instanceof ForceReply.Ended ended ? Claim.holderOf(ended.holder()) : "";
        Function<ForceReply, String> other =
                reply -> reply instanceof ForceReply.HeldBy held ? Claim.holderOf(held.holder()) : "";
        String ended = mostNamed(replies, victim);
        int endings =
                ended.isEmpty() ? 0 : replies.count(reply -> victim.apply(reply).equals(ended));
        if (endings >= replies.majority()) {
            return new ForceReply.Ended(ended);
        }
        String holder = mostNamed(replies, other);
        int holding =
                holder.isEmpty() ? 0 : replies.count(reply -> other.apply(reply).equals(holder));
        if (holding >= replies.majority()) {
            return new ForceReply.HeldBy(holder);
        }
        if (replies.pending() > 0) {
            return null;
        }
        if (replies.tooFewVotes()) {
            throw replies.noMajority();
        }
        if (endings > 0 && endings + replies.withoutVote() >= replies.majority()) {
            return new ForceReply.Ended(ended);
        }
        return holding > 0 && holding + replies.withoutVote() >= replies.majority()
                ? new ForceReply.HeldBy(holder)
                : new ForceReply.Free();
    }

    /** Returns what the members know of a name, with the holder id as at the members. */
    static @Nullable StoreState seen(Replies<Seen> replies) {
        String holder = mostNamed(replies, Seen::holder);
        int votes = replies.count(seen -> seen.holder().equals(holder));
        int waiting = replies.max(Seen::waiting);
        if (!holder.isEmpty() && votes >= replies.majority()) {
            long base = replies.answers().stream()
                    .filter(seen -> seen.register().id().equals(holder))
                    .mapToLong(seen -> seen.register().token())
                    .max()
                    .orElse(0);
            long remaining =
                    majorityLasts(replies, seen -> seen.holder().equals(holder) ? lasts(seen.remainingMillis()) : 0);
            return new StoreState(holder, remaining, base, waiting);
        }
        boolean open = (holder.isEmpty() ? 0 : votes) + replies.pending() >= replies.majority();
        int counting = replies.members() - replies.withoutVote() - replies.pending();
        if (replies.pending() > 0 && (open || counting < replies.majority())) {
            return null;
        }
        if (replies.tooFewVotes()) {
            throw replies.noMajority();
        }
        return StoreState.free(waiting);
    }

    private static long lasts(long remainingMillis) {
        return remainingMillis < 0 ? Long.MAX_VALUE : remainingMillis;
    }

    /**
     * Returns for how long a majority will still have the hold; -1 if it has no end.
     *
     * @param remaining for how long a member has the hold; {@code Long.MAX_VALUE} if it has no end
     */
    private static <R> long majorityLasts(Replies<R> replies, ToLongFunction<R> remaining) {
        long[] all = new long[replies.members()];
        for (int i = 0; i < all.length; i++) {
            R vote = replies.vote(i);
            all[i] = vote == null ? 0 : remaining.applyAsLong(vote);
        }
        Arrays.sort(all);
        long lasts = all[all.length - replies.majority()];
        return lasts == Long.MAX_VALUE ? -1 : lasts;
    }

    /** Returns the id that most votes name; empty if none names any. */
    private static <R> String mostNamed(Replies<R> replies, Function<R, String> name) {
        Map<String, Integer> votes = new HashMap<>();
        for (int i = 0; i < replies.members(); i++) {
            R vote = replies.vote(i);
            String named = vote == null ? "" : name.apply(vote);
            if (!named.isEmpty()) {
                votes.merge(named, 1, Integer::sum);
            }
        }
        return votes.entrySet().stream()
                .max(Map.Entry.<String, Integer>comparingByValue().thenComparing(Map.Entry.comparingByKey()))
                .map(Map.Entry::getKey)
                .orElse("");
    }
}
