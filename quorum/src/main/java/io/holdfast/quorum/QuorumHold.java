package io.holdfast.quorum;

/**
 * A hold that a majority has granted to this client.
 *
 * @param base the committed token
 */
record QuorumHold(Claim claim, long base) {}
