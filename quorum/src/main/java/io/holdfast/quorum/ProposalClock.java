package io.holdfast.quorum;

import io.holdfast.spi.StoreException;
import io.holdfast.spi.TimeSource;
import java.time.Instant;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Makes the numbers that are proposed as tokens: this client's wall clock in sixteenths of a millisecond, or the last
 * number plus one if that is larger. So proposals are usually larger than the members' numbers, even if members have
 * forgotten theirs. Safety does not depend on that: a proposal that is too small is refused and costs a round trip.
 */
final class ProposalClock {

    /** The largest number that fits beside the hand-offs in a token. */
    static final long MAX = (1L << 49) - 1;

    /** A second: the clocks of one fleet differ by less. A clock that is years ahead must not move the others. */
    private static final long LEAD_MAX = 16_000;

    private final TimeSource time;
    private final AtomicLong last = new AtomicLong();

    /** By how much the numbers of other clients were seen to be ahead of this clock. */
    private final AtomicLong lead = new AtomicLong();

    ProposalClock(TimeSource time) {
        this.time = time;
    }

    /**
     * Returns the next proposal.
     *
     * @throws StoreException if the clock is so far ahead that its time does not fit into a token
     */
    long next() {
        long now = now() + lead.get();
        if (now > MAX) {
            throw new StoreException(
                    StoreException.Outcome.FATAL,
                    "No fencing token can be made from this machine's clock, which says "
                            + Instant.ofEpochMilli(time.wallMillis())
                            + " (expected: a time before the year 3084; set the clock)",
                    null);
        }
        return last.updateAndGet(before -> Math.max(before + 1, now));
    }

    /** Notes a member's number. If other clients' clocks are ahead, the next proposal must be ahead as well. */
    void observe(long register) {
        long ahead = register - now();
        if (ahead > lead.get() && ahead <= LEAD_MAX) {
            lead.accumulateAndGet(ahead, Math::max);
        }
    }

    private long now() {
        long millis = time.wallMillis();
        return millis > MAX / 16 ? MAX + 1 : millis * 16;
    }
}
