package io.holdfast.spi;

/**
 * A grant of the name to a queued holder id, with the data that the receiver needs to use the hold without another
 * command: above all, when the hold began.
 *
 * <p>The message may be older than the lease, so its arrival says nothing about the beginning. But the store had
 * stamped a request of this holder id (see {@link AcquireRequest#nonce}) and measured by its own clock how long
 * after that stamp it granted; and the receiver knows when it sent that request. So the grant was not earlier than the
 * sending plus this time.
 *
 * <pre>{@code
 * listener.granted(new PushedGrant(
 *         name, holderId, base, waiting, leaseMillis, nonce, sinceAskingMillis, PushedGrant.ALWAYS));
 * }</pre>
 *
 * @param name the lock name
 * @param holderId the id that holds now
 * @param base the base of the hold's fencing tokens
 * @param waiting roughly how many clients wait behind it
 * @param leaseMillis how long the hold lasts from the grant on
 * @param nonce that of the request that the store had stamped last; {@link #NO_NONCE} if the receiver must ask before it
 *     uses the grant
 * @param sinceAskingMillis the store's time from that stamp to the grant, rounded down
 * @param sameClockSinceNanos for requests sent before this instant of the client's time source, stamp and grant may
 *     come from different clocks (for example because of a failover in between), and their difference means nothing;
 *     {@link #ALWAYS} if the store has only one clock
 */
public record PushedGrant(
        String name,
        String holderId,
        long base,
        int waiting,
        long leaseMillis,
        long nonce,
        long sinceAskingMillis,
        long sameClockSinceNanos) {

    /** The nonce of no request, outside the range of nonces. */
    public static final long NO_NONCE = -1;

    /** The store has only one clock. */
    public static final long ALWAYS = Long.MIN_VALUE;

    /** Returns this grant for the name that another store uses. */
    public PushedGrant named(String other) {
        return new PushedGrant(
                other, holderId, base, waiting, leaseMillis, nonce, sinceAskingMillis, sameClockSinceNanos);
    }

    /**
     * Returns whether stamp and grant come from one clock, for a request sent at this instant of the client's time
     * source.
     */
    public boolean isOfOneClock(long askedNanos) {
        return sameClockSinceNanos == ALWAYS || askedNanos - sameClockSinceNanos >= 0;
    }
}
