package io.holdfast.quorum;

/**
 * The client's side of the agreement on one token, as a value: it takes the members' answers and says what is next. It
 * has no I/O, no time and no threads, so that the store and the model checker run the same code. The members' side is
 * {@link io.holdfast.quorum.TokenRegister}.
 *
 * <p>Invariant: answers to an earlier candidate never count for a later one ({@link #next} begins with none).
 *
 * @param members the number of members
 * @param candidate the number that may become the token; written by the request for the lock, or by a commit
 * @param accepted bit {@code i}: member {@code i} has written the candidate
 * @param refused bit {@code i}: member {@code i} has a larger number, or the same from another id
 * @param highest the largest number seen
 */
record TokenRound(int members, long candidate, int accepted, int refused, long highest) {

    /** Returns the first round: the proposal that is part of the request for the lock. */
    static TokenRound propose(int members, long candidate) {
        return new TokenRound(members, candidate, 0, 0, candidate);
    }

    /** Returns the round after a member's answer. Only its first answer to a candidate counts. */
    TokenRound answered(int member, boolean wrote, long register) {
        int bit = 1 << member;
        if (((accepted | refused) & bit) != 0) {
            return this;
        }
        return new TokenRound(
                members,
                candidate,
                wrote ? accepted | bit : accepted,
                wrote ? refused : refused | bit,
                Math.max(highest, register));
    }

    /** Returns whether a majority has written the candidate, so that it is the token. */
    boolean isCommitted() {
        return Integer.bitCount(accepted) >= Members.majority(members);
    }

    /** Returns whether a refusal came before a majority. There is a larger number then, so waiting does not help. */
    boolean isRefused() {
        return !isCommitted() && refused != 0;
    }

    /** Returns the round after this one, with a candidate above all numbers seen. */
    TokenRound next() {
        return propose(members, highest + 1);
    }
}
