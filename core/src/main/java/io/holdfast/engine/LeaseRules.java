package io.holdfast.engine;

import io.holdfast.spi.ClockReading;
import io.holdfast.spi.PushedGrant;
import java.util.concurrent.TimeUnit;

/**
 * The arithmetic of validity: engine rule 2. Safety depends on time, and on who sent a message, only here. So a test can
 * replace these rules with wrong ones, and see the simulation find that.
 */
class LeaseRules {

    /**
     * Returns the instant until which a hold counts as the client's. The store's countdown began at the execution, so
     * not before the request was sent; hence the client's countdown begins at the sending. The arrival of the reply
     * says nothing: the reply may have been delayed for longer than the lease.
     *
     * @param replied not used here: a wrong rule of a test counts from it
     */
    Deadline deadline(ClockReading sent, ClockReading replied, long leaseNanos) {
        return new Deadline(
                sent.nanos() + leaseNanos - driftMarginNanos(leaseNanos), sent.wallMillis() + leaseNanos / 1_000_000);
    }

    /** Returns the length that a store promised: the one requested, or a shorter one that the reply names. */
    static long promisedNanos(long askedNanos, long atMostMillis) {
        return Math.min(askedNanos, TimeUnit.MILLISECONDS.toNanos(atMostMillis));
    }

    /**
     * Returns the instant until which a hold counts as the client's if the store granted it by a message. The message
     * may be older than the lease. But the store's clock says how long after the client's request it granted, so the
     * grant was not before the sending of that request plus this time. The drift margin covers the whole span; the wall
     * clock bounds it from the sending on. The store's clock may have jumped in between and say too much, so the
     * deadline is never later than if it were counted from the arrival of the message.
     */
    Deadline pushedDeadline(ClockReading asked, long sinceAskingNanos, ClockReading heard, long leaseNanos) {
        return deadline(asked, heard, sinceAskingNanos + leaseNanos).earlier(deadline(heard, heard, leaseNanos));
    }

    /**
     * Returns whether a renewal's reply counts: only before the old deadline. After it the lease was already reported
     * as over, and a caller may have acted on that.
     *
     * @param now read for this very hold after its reply came
     */
    boolean renewalCounts(Deadline old, ClockReading now) {
        return !old.hasPassed(now);
    }

    /**
     * Returns whether a pushed grant comes from the store: others who may send messages to this client do not know the
     * fresh bits of its last request.
     *
     * @param nonce that of the last request; {@link PushedGrant#NO_NONCE} if it had none
     */
    boolean isFromStore(PushedGrant grant, long nonce) {
        return nonce != PushedGrant.NO_NONCE && grant.nonce() == nonce;
    }

    /** Returns how far two clocks may drift apart during a lease: 1 % and 2 ms, as in the Redlock specification. */
    long driftMarginNanos(long leaseNanos) {
        return leaseNanos / 100 + 2_000_000;
    }
}
