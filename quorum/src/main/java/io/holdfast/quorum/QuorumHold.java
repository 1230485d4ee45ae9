package io.holdfast.quorum;

/**
 * A hold that a majority has granted to this client.
 *
 * @param claim the round of the acquisition that won it
 * @param base the committed token
 */
record QuorumHold(Claim claim, long base) {}
