package io.holdfast;

import static java.util.Objects.requireNonNull;

import io.holdfast.spi.DurationText;
import java.nio.charset.StandardCharsets;
import java.time.Duration;

/** The bounds of what users may pass in, and the sentences that say so. */
final class Limits {

    /** Room enough for any key; the same limit for every store, so that a name works on all of them. */
    static final int NAME_BYTES_MAX = 1024;

    /** Below this, a round trip and a scheduling delay of an ordinary machine leave no time to renew. */
    static final Duration LEASE_MIN = Duration.ofMillis(100);

    static final Duration LEASE_MAX = Duration.ofDays(365);

    /** Longer than this is no hand-off any more but a monopoly. */
    static final Duration TENURE_MAX = Duration.ofMinutes(1);

    /** In nanoseconds this fits a long with room for sums. */
    static final Duration WAIT_MAX = Duration.ofDays(36_500);

    private Limits() {}

    static String checkName(String name) {
        requireNonNull(name, "name");
        if (name.isBlank()) {
            throw new IllegalArgumentException(
                    "lock name: \"" + name + "\" (expected: not blank, for example \"order:refund:12345\")");
        }
        // UTF-8 takes one to three bytes a char: count bytes only where the length does not decide.
        if (name.length() > NAME_BYTES_MAX / 3) {
            int bytes = name.getBytes(StandardCharsets.UTF_8).length;
            if (bytes > NAME_BYTES_MAX) {
                throw new IllegalArgumentException("lock name: " + bytes + " bytes, starting with \""
                        + name.substring(0, 40) + "\" (expected: at most " + NAME_BYTES_MAX
                        + " bytes in UTF-8; use a digest of long keys)");
            }
        }
        return name;
    }

    static Duration checkLease(String what, Duration lease) {
        requireNonNull(lease, what);
        if (lease.compareTo(LEASE_MIN) < 0) {
            throw new IllegalArgumentException(what + ": " + DurationText.of(lease) + " (expected: at least "
                    + DurationText.of(LEASE_MIN) + ", the shortest lease that can be kept)");
        }
        if (lease.compareTo(LEASE_MAX) > 0) {
            throw new IllegalArgumentException(
                    what + ": " + DurationText.of(lease) + " (expected: at most " + DurationText.of(LEASE_MAX) + ")");
        }
        return lease;
    }

    static Duration checkTenure(Duration tenure) {
        requireNonNull(tenure, "tenure");
        if (tenure.isNegative() || tenure.compareTo(TENURE_MAX) > 0) {
            throw new IllegalArgumentException("tenure: " + DurationText.of(tenure) + " (expected: from zero to "
                    + DurationText.of(TENURE_MAX) + ")");
        }
        return tenure;
    }

    static Duration checkWait(String what, Duration wait) {
        requireNonNull(wait, what);
        if (wait.isNegative()) {
            throw new IllegalArgumentException(what + ": " + DurationText.of(wait) + " (expected: zero or more)");
        }
        if (wait.compareTo(WAIT_MAX) > 0) {
            throw new IllegalArgumentException(what + ": " + DurationText.of(wait) + " (expected: at most "
                    + DurationText.of(WAIT_MAX) + "; leave it out to wait without limit)");
        }
        return wait;
    }
}
