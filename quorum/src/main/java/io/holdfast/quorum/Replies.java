package io.holdfast.quorum;

import io.holdfast.spi.StoreException;
import io.holdfast.spi.StoreException.Outcome;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import java.util.function.ToIntFunction;
import org.jspecify.annotations.Nullable;

/**
 * The members' answers in one round so far: the data for the decisions in {@link Verdicts}. The round fills it under a
 * lock.
 *
 * <p>A member's part in the round is pending at first. Then it is an answer that counts, an answer that does not count
 * (the member is in quarantine), or a failure. In the last two cases the member has no vote.
 */
final class Replies<R> {

    private final Members members;
    private final @Nullable Object[] answers;
    private final boolean[] counts;
    private final @Nullable StoreException[] failures;
    private int pending;

    Replies(Members members) {
        this.members = members;
        pending = members.seats().size();
        answers = new Object[pending];
        counts = new boolean[pending];
        failures = new StoreException[pending];
    }

    void answered(int member, R answer, boolean itCounts) {
        answers[member] = answer;
        counts[member] = itCounts;
        pending--;
    }

    void failed(int member, StoreException why) {
        failures[member] = why;
        pending--;
    }

    boolean isPending(int member) {
        return answers[member] == null && failures[member] == null;
    }

    int members() {
        return answers.length;
    }

    int majority() {
        return Members.majority(answers.length);
    }

    int pending() {
        return pending;
    }

    /** Returns the number of votes that pass the test. */
    int count(Predicate<R> test) {
        int count = 0;
        for (int i = 0; i < answers.length; i++) {
            R vote = vote(i);
            if (vote != null && test.test(vote)) {
                count++;
            }
        }
        return count;
    }

    /** Returns the number of members that have no vote in this round. */
    int withoutVote() {
        int count = 0;
        for (int i = 0; i < answers.length; i++) {
            if (!isPending(i) && !counts[i]) {
                count++;
            }
        }
        return count;
    }

    /** Returns whether the members that may still vote are fewer than a majority. */
    boolean tooFewVotes() {
        return members() - withoutVote() < majority();
    }

    /** Returns the member's answer if it counts, otherwise null. */
    @Nullable
    R vote(int member) {
        return counts[member] ? answer(member) : null;
    }

    @Nullable
    StoreException failure(int member) {
        return failures[member];
    }

    /** Returns all answers, even those that do not count. */
    List<R> answers() {
        List<R> all = new ArrayList<>(answers.length);
        for (int i = 0; i < answers.length; i++) {
            R answer = answer(i);
            if (answer != null) {
                all.add(answer);
            }
        }
        return all;
    }

    /** Returns the largest number in all answers, even those that do not count; zero if there are none. */
    int max(ToIntFunction<R> number) {
        return answers().stream().mapToInt(number).max().orElse(0);
    }

    /** Returns a sentence for each member that has no vote. */
    List<String> reasons() {
        List<String> reasons = new ArrayList<>();
        for (Seat seat : members.seats()) {
            StoreException why = failures[seat.index];
            if (why != null) {
                reasons.add(String.valueOf(why.getMessage()));
            } else if (!isPending(seat.index) && !counts[seat.index]) {
                reasons.add(seat.noVoteReason());
            }
        }
        return reasons;
    }

    /** Returns the error of a decided round in which too few members had a vote. */
    StoreException noMajority() {
        List<String> reasons = reasons();
        return new StoreException(
                outcome(),
                reasons.size() + " of the " + members() + " members of " + members.description()
                        + " have no vote, so there is no majority: " + String.join("; ", reasons),
                null);
    }

    private Outcome outcome() {
        int fatal = 0;
        boolean unknown = false;
        for (StoreException why : failures) {
            fatal += why != null && why.outcome() == Outcome.FATAL ? 1 : 0;
            unknown |= why != null && why.outcome() == Outcome.UNKNOWN;
        }
        return fatal >= majority() ? Outcome.FATAL : unknown ? Outcome.UNKNOWN : Outcome.NOT_EXECUTED;
    }

    @SuppressWarnings("unchecked")
    private @Nullable R answer(int member) {
        return (R) answers[member];
    }
}
