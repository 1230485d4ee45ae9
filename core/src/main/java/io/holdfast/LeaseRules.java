package io.holdfast;

import io.holdfast.spi.ClockReading;
import java.util.concurrent.TimeUnit;

/**
 * The arithmetic of validity: design rule 2. The one place where safety depends on time, so that a test can replace it by
 * a wrong one and see the simulation find it.
 */
class LeaseRules {

    /**
     * How long a hold counts as ours. The store's countdown began at the execution, so not before the request was sent;
     * hence ours begins at the sending. The reply's arrival says nothing: it may have been held up for longer than the
     * lease.
     */
    Deadline deadline(ClockReading sent, ClockReading replied, long leaseNanos) {
        return new Deadline(
                sent.nanos() + leaseNanos - driftMarginNanos(leaseNanos), sent.wallMillis() + leaseNanos / 1_000_000);
    }

    /** What a store promised that was asked for a length: that, or less if it said so. */
    static long promisedNanos(long askedNanos, long atMostMillis) {
        return Math.min(askedNanos, TimeUnit.MILLISECONDS.toNanos(atMostMillis));
    }

    /**
     * How long a hold counts as ours that the store granted by itself and told us of. The message may be older than the
     * lease; but the store's clock says how long after our asking it granted, so that was not before the asking was sent
     * plus this time. The drift margin is charged on all of it, and the wall clock guards it from the asking on. A clock
     * at the store that jumped in between may say too much, hence never longer than from the message's arrival.
     */
    Deadline pushedDeadline(ClockReading asked, long sinceAskingNanos, ClockReading heard, long leaseNanos) {
        return deadline(asked, heard, sinceAskingNanos + leaseNanos).earlier(deadline(heard, heard, leaseNanos));
    }

    /**
     * Whether a renewal's reply counts: only before the old deadline. After it the lease was already reported as over,
     * and somebody may have acted on that.
     *
     * @param now read for this very hold, after its reply came
     */
    boolean renewalCounts(Deadline old, ClockReading now) {
        return !old.hasPassed(now);
    }

    /** By how much two clocks may drift apart during a lease: 1 % and 2 ms, as in the Redlock specification. */
    long driftMarginNanos(long leaseNanos) {
        return leaseNanos / 100 + 2_000_000;
    }
}
