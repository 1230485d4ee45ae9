package io.holdfast.quorum;

import io.holdfast.spi.StoreException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * What the members have said in one round so far. Data, for the decisions in {@link Verdicts}; whoever fills it does so
 * under a lock.
 *
 * <p>A member's part in the round is: pending, then either an answer that counts, an answer that does not count (the
 * member is in quarantine), or a failure. The last two both mean that it has no vote.
 */
final class Replies<R> {

    private final @Nullable Object[] answers;
    private final boolean[] counts;
    private final @Nullable StoreException[] failures;
    private int pending;

    Replies(int members) {
        answers = new Object[members];
        counts = new boolean[members];
        failures = new StoreException[members];
        pending = members;
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
        return Majority.of(answers.length);
    }

    int pending() {
        return pending;
    }

    /** How many answers that count are so. */
    int count(Predicate<R> test) {
        int count = 0;
        for (int i = 0; i < answers.length; i++) {
            R answer = counts[i] ? answer(i) : null;
            if (answer != null && test.test(answer)) {
                count++;
            }
        }
        return count;
    }

    /** How many have no vote in this round. */
    int withoutVote() {
        int count = 0;
        for (int i = 0; i < answers.length; i++) {
            if (!isPending(i) && !counts[i]) {
                count++;
            }
        }
        return count;
    }

    /** The answer, whether it counts or not; null if there is none. */
    @SuppressWarnings("unchecked")
    @Nullable
    R answer(int member) {
        return (R) answers[member];
    }

    boolean countsAt(int member) {
        return counts[member];
    }

    @Nullable
    StoreException failure(int member) {
        return failures[member];
    }

    /** All answers, also those that do not count. */
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

    @Override
    public String toString() {
        return Arrays.toString(answers);
    }
}
