package io.holdfast.spi;

/**
 * A grant of the name to a queued holder id, with what the receiver needs to use the hold before it has asked again: above all, when
 * the hold began.
 *
 * <p>The message may be older than the lease, so its arrival says nothing about that. But the store had stamped an asking
 * of this holder id (see {@link AcquireRequest#repetition}) and measured by its own clock how long after that it granted;
 * and the receiver knows when it had sent that asking. So the grant was not earlier than that long after the sending.
 *
 * @param name the lock name
 * @param holderId the id that holds now
 * @param base the base of the hold's fencing tokens
 * @param waiting how many clients wait behind it, roughly
 * @param leaseMillis how long the hold lasts from the grant on
 * @param repetition which asking the store had stamped last
 * @param sinceAskingMillis the store's time from that stamp to the grant, rounded down
 * @param sameClockSinceNanos for askings sent before this instant of the client's time source, stamp and grant may be of
 *     different clocks (a failover in between, say), and the difference of the two means nothing; {@link #ALWAYS} if
 *     there is but one clock
 */
public record PushedGrant(
        String name,
        String holderId,
        long base,
        int waiting,
        long leaseMillis,
        long repetition,
        long sinceAskingMillis,
        long sameClockSinceNanos) {

    /** The store has only one clock. */
    public static final long ALWAYS = Long.MIN_VALUE;

    /** Returns whether stamp and grant are of one clock, for an asking sent at this instant of the client's time source. */
    public boolean isOfOneClock(long askedNanos) {
        return sameClockSinceNanos == ALWAYS || askedNanos - sameClockSinceNanos >= 0;
    }
}
