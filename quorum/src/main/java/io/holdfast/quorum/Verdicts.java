package io.holdfast.quorum;

import io.holdfast.spi.QuorumMember.Extended;
import io.holdfast.spi.QuorumMember.Found;
import io.holdfast.spi.QuorumMember.Released;
import io.holdfast.spi.QuorumMember.Seen;
import io.holdfast.spi.QuorumMember.Vote;
import io.holdfast.spi.QuorumMember.Written;
import io.holdfast.spi.StoreState;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * What the answers of a round amount to. Pure: no I/O, no time. Each method returns null while it depends on answers that
 * are still to come, and never when all are in; so a round ends as early as it can, and does not wait for a slow member
 * that makes no difference.
 */
final class Verdicts {

    private Verdicts() {}

    /** What became of a request for the lock. */
    sealed interface Taken {

        /**
         * A majority granted it.
         *
         * @param token what they said to the proposed token
         * @param voters bit {@code i}: member {@code i} granted it
         */
        record Won(TokenRound token, int voters, int waiting) implements Taken {}

        /** A majority says that one other has it. */
        record Held(String holder, long remainingMillis) implements Taken {}

        /** Nobody has a majority, as far as can be seen: several try at once, or too many members are out. */
        record Split(String holder, boolean someHaveNoVote) implements Taken {}

        /** Too many members have no vote: nothing can be said. */
        record Failed() implements Taken {}
    }

    static @Nullable Taken taken(Replies<Vote> replies, long proposal) {
        int granted = replies.count(Vote::holds);
        if (granted >= replies.majority()) {
            TokenRound token = TokenRound.propose(replies.members(), proposal);
            int voters = 0;
            int waiting = 0;
            for (int i = 0; i < replies.members(); i++) {
                Vote vote = replies.countsAt(i) ? replies.answer(i) : null;
                if (vote != null) {
                    voters |= vote.holds() ? 1 << i : 0;
                    token = token.answered(i, vote.accepted(), vote.register());
                    waiting = Math.max(waiting, vote.waiting());
                }
            }
            return new Taken.Won(token, voters, waiting);
        }
        if (granted + replies.pending() >= replies.majority()) {
            return null;
        }
        if (tooFewVotes(replies)) {
            return new Taken.Failed();
        }
        String rival = mostNamed(replies, Vote::holder);
        Predicate<Vote> forRival = vote -> vote.holder().equals(rival);
        int votes = replies.count(forRival);
        if (votes >= replies.majority()) {
            return new Taken.Held(rival, majorityLasts(replies, forRival));
        }
        if (votes + replies.pending() >= replies.majority()) {
            return null;
        }
        return new Taken.Split(rival, replies.withoutVote() > 0);
    }

    /**
     * The round of tokens that the answers to a commit lead to; one that is neither committed nor refused has failed.
     *
     * <p>Only members that granted the lock count: what is written there is there before any of them grants it to the next.
     * Another member may have granted it to the next already, and accepted a smaller token for that.
     *
     * @param voters as in {@link Taken.Won}
     */
    static @Nullable TokenRound committed(Replies<Written> replies, TokenRound began, int voters) {
        TokenRound round = began;
        for (int i = 0; i < replies.members(); i++) {
            Written written = (voters & 1 << i) != 0 && replies.countsAt(i) ? replies.answer(i) : null;
            if (written != null) {
                round = round.answered(i, written.accepted(), written.register());
            }
        }
        boolean decided = round.isCommitted() || round.isRefused() || replies.pending() == 0 || tooFewVotes(replies);
        return decided ? round : null;
    }

    /** What became of a renewal. */
    enum Renewal {
        RENEWED,
        /** A majority does not have it. */
        GONE,
        SUPERSEDED,
        /** Neither a majority for it nor one against it. */
        UNDECIDED
    }

    static @Nullable Renewal renewed(Replies<Extended> replies) {
        int held = replies.count(e -> e.found() == Found.HELD);
        int superseded = replies.count(e -> e.found() == Found.SUPERSEDED);
        int gone = replies.count(e -> e.found() == Found.ABSENT || e.found() == Found.TAKEN);
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

    /** Whether there was a hold to end. */
    enum Ending {
        HELD,
        /** A majority did not have it. */
        NOT_HELD,
        /** Too few have answered, or they do not agree. */
        UNKNOWN
    }

    static @Nullable Ending released(Replies<Released> replies) {
        if (replies.count(Released::wasHeld) >= replies.majority()) {
            return Ending.HELD;
        }
        if (replies.count(r -> !r.wasHeld()) >= replies.majority()) {
            return Ending.NOT_HELD;
        }
        return replies.pending() > 0 ? null : Ending.UNKNOWN;
    }

    static @Nullable Ending forced(Replies<Optional<String>> replies) {
        String holder = mostNamed(replies, held -> held.orElse(""));
        int votes = replies.count(held -> held.orElse("").equals(holder));
        if (!holder.isEmpty() && votes >= replies.majority()) {
            return Ending.HELD;
        }
        if (replies.pending() > 0) {
            return null;
        }
        return tooFewVotes(replies) ? Ending.UNKNOWN : Ending.NOT_HELD;
    }

    /**
     * What is known of a name.
     *
     * @param state null if too few have answered
     */
    record Sight(@Nullable StoreState state) {}

    static @Nullable Sight seen(Replies<Seen> replies) {
        String holder = mostNamed(replies, Seen::holder);
        int votes = replies.count(seen -> seen.holder().equals(holder));
        boolean open = (holder.isEmpty() ? 0 : votes) + replies.pending() >= replies.majority();
        int waiting = 0;
        long base = 0;
        for (Seen seen : replies.answers()) {
            waiting = Math.max(waiting, seen.waiting());
            if (seen.register().id().equals(holder)) {
                base = Math.max(base, seen.register().token());
            }
        }
        if (!holder.isEmpty() && votes >= replies.majority()) {
            long[] remaining = new long[replies.members()];
            for (int i = 0; i < remaining.length; i++) {
                Seen seen = replies.countsAt(i) ? replies.answer(i) : null;
                remaining[i] = seen != null && seen.holder().equals(holder) ? lasts(seen.remainingMillis()) : 0;
            }
            return new Sight(new StoreState(holder, majorityOf(remaining), base, waiting));
        }
        int counting = replies.members() - replies.withoutVote() - replies.pending();
        if (!open && counting >= replies.majority()) {
            return new Sight(StoreState.free(waiting));
        }
        if (replies.pending() > 0) {
            return null;
        }
        return new Sight(counting < replies.majority() ? null : StoreState.free(waiting));
    }

    /** Whether those without a vote are so many that the others are no majority. */
    static boolean tooFewVotes(Replies<?> replies) {
        return replies.members() - replies.withoutVote() < replies.majority();
    }

    /** For how long a majority will still have it. */
    private static long majorityLasts(Replies<Vote> replies, Predicate<Vote> forRival) {
        long[] remaining = new long[replies.members()];
        for (int i = 0; i < remaining.length; i++) {
            Vote vote = replies.countsAt(i) ? replies.answer(i) : null;
            remaining[i] = vote != null && forRival.test(vote) ? lasts(vote.remainingMillis()) : 0;
        }
        return majorityOf(remaining);
    }

    private static long lasts(long remainingMillis) {
        return remainingMillis < 0 ? Long.MAX_VALUE : remainingMillis;
    }

    /** The time for which as many as a majority last. */
    private static long majorityOf(long[] remaining) {
        java.util.Arrays.sort(remaining);
        long lasts = remaining[remaining.length - Majority.of(remaining.length)];
        return lasts == Long.MAX_VALUE ? -1 : lasts;
    }

    /** The name that most answers that count give; empty if none gives any. */
    private static <R> String mostNamed(Replies<R> replies, Function<R, String> name) {
        Map<String, Integer> votes = new HashMap<>();
        for (int i = 0; i < replies.members(); i++) {
            R answer = replies.countsAt(i) ? replies.answer(i) : null;
            String named = answer == null ? "" : name.apply(answer);
            if (!named.isEmpty()) {
                votes.merge(named, 1, Integer::sum);
            }
        }
        Collection<Map.Entry<String, Integer>> entries = votes.entrySet();
        return entries.stream()
                .max(Map.Entry.<String, Integer>comparingByValue().thenComparing(Map.Entry.comparingByKey()))
                .map(Map.Entry::getKey)
                .orElse("");
    }
}
