package io.holdfast.verify.quorum;

/** What could be wrong with a quorum. Switched on one at a time, to see that it is found. */
public enum QuorumBug {
    NONE,

    /** Tokens: a number above all in the answers, and it is not written to the members. */
    TOKEN_WITHOUT_COMMIT,
    /** Tokens: each member counts, the largest count is the token, nothing is written back. */
    TOKEN_IS_THE_LARGEST_COUNT,
    /** Tokens: the largest number + 1 is written back, and the same number is accepted from two. */
    TOKEN_WRITTEN_BACK_WITHOUT_COMPARISON,
    /** Votes of an attempt that came to nothing stay where they are. */
    VOTES_ARE_NOT_GIVEN_BACK,
    /** A member that lost its data votes as soon as it is back. */
    EMPTY_MEMBER_VOTES_AT_ONCE,
    /** A member's answers do not say that its data were lost. */
    EMPTY_MEMBER_IS_NOT_NOTICED,
    /** A member ends whatever hold there is. */
    RELEASE_WITHOUT_OWNER_CHECK,
    /** A member takes a name that another has. */
    VOTES_FOR_TWO,
    /** A member says that it has renewed what it does not have. */
    RENEWS_WHAT_IS_GONE,
    /** A member tells nobody that a name was released. */
    RELEASE_WAKES_NOBODY
}
