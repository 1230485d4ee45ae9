package io.holdfast.quorum;

import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.LongUnaryOperator;

/** What the builder and a simulation can set. Does not change after a store was opened. */
final class QuorumSettings {

    /** The engine subtracts this much for every store; a larger drift is added to what the members are asked for. */
    static final double DRIFT_OF_THE_ENGINE = 0.01;

    private static final long DRIFT_FIXED_NANOS = 2_000_000;

    Duration memberTimeout = Duration.ofMillis(100);
    Duration longestLease = Duration.ofSeconds(60);
    double clockDrift = DRIFT_OF_THE_ENGINE;
    boolean bootstrap;

    /** Returns a random number from zero up to, but not including, the argument. */
    LongUnaryOperator random = bound -> ThreadLocalRandom.current().nextLong(bound);

    QuorumSettings copy() {
        QuorumSettings copy = new QuorumSettings();
        copy.memberTimeout = memberTimeout;
        copy.longestLease = longestLease;
        copy.clockDrift = clockDrift;
        copy.bootstrap = bootstrap;
        copy.random = random;
        return copy;
    }

    /**
     * Returns the lease to ask members for, so that the client's deadline passes before any member's clock ends the
     * hold. The deadline is the lease less 1 % and 2 ms, from before the first request.
     */
    long memberLeaseMillis(long leaseMillis) {
        return leaseMillis + (long) Math.ceil(leaseMillis * (clockDrift - DRIFT_OF_THE_ENGINE));
    }

    /** Returns how long after the first request was sent a majority may be complete. */
    long validityNanos(long leaseMillis) {
        long leaseNanos = leaseMillis * 1_000_000;
        return leaseNanos - leaseNanos / 100 - DRIFT_FIXED_NANOS;
    }

    /** Returns for how long a member without a birth must not vote: until all that it may have forgotten is over. */
    long quarantineMillis() {
        return memberLeaseMillis(longestLease.toMillis()) + (long) (longestLease.toMillis() * clockDrift) + 2;
    }
}
