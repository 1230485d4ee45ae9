package io.holdfast.quorum;

/**
 * The client's side of the agreement on one token, as a value: answers in, the next step out. No I/O, no time, no
 * threads: the store and the model checker run this same code. The members' side is
 * {@link io.holdfast.spi.TokenRegister}.
 *
 * <p>Invariant: answers to an earlier candidate never count for a later one ({@link #next} begins with none).
 *
 * @param members how many there are
 * @param candidate the number that may become the token; written by the request for the lock, or by a commit
 * @param accepted bit {@code i}: member {@code i} has written the candidate
 * @param refused bit {@code i}: member {@code i} has a larger number, or the same from somebody else
 * @param highest the largest number seen
 */
record TokenRound(int members, long candidate, int accepted, int refused, long highest) {

    /** The first round: the proposal that goes along with the request for the lock. */
    static TokenRound propose(int members, long candidate) {
        return new TokenRound(members, candidate, 0, 0, candidate);
    }

    /** A member has answered. Only its first answer to a candidate counts. */
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

    /** A majority has written the candidate: it is the token. */
    boolean isCommitted() {
        return Integer.bitCount(accepted) >= Majority.of(members);
    }

    /** A refusal came before a majority: no use in waiting for the others, since a larger number is known to be there. */
    boolean isRefused() {
        return !isCommitted() && refused != 0;
    }

    /** The round after this one, with a candidate above everything seen. */
    TokenRound next() {
        return propose(members, highest + 1);
    }
}
