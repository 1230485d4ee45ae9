package io.holdfast.spi;

/** The store's answer to a renewal. */
public sealed interface RenewReply {

    /**
     * The holder id holds the name, for at least the requested time.
     *
     * @param base the base of the hold's fencing tokens
     * @param waiting how many clients wait in the store's queue
     */
    record Renewed(long base, int waiting) implements RenewReply {}

    /** The holder id does not hold the name: expired, taken, or removed by force. */
    record Gone() implements RenewReply {}

    /**
     * The holder id holds the name, but nothing was changed and nothing is promised: a later exact setting, or this very
     * one, was executed before.
     */
    record Superseded() implements RenewReply {}
}
