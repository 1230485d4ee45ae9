package io.holdfast.engine;

import static java.util.Objects.requireNonNull;

import io.holdfast.spi.DurationText;
import io.holdfast.spi.Names;
import java.nio.charset.StandardCharsets;
import java.time.Duration;

/** The limits of the arguments that users pass in, and the messages for arguments beyond them. */
public final class Limits {

    /** The same limit for every store, so that a name works on all of them. */
    static final int NAME_BYTES_MAX = 1024;

    private static final int CLIENT_NAME_MAX = 100;

    /** In a shorter lease, a round trip and a scheduling delay of an ordinary machine leave no time to renew. */
    static final Duration LEASE_MIN = Duration.ofMillis(100);

    static final Duration LEASE_MAX = Duration.ofDays(365);

    /** A client with a longer tenure would keep the lock from all other clients. */
    static final Duration TENURE_MAX = Duration.ofMinutes(1);

    /** Fits a long in nanoseconds, with room for sums. */
    static final Duration WAIT_MAX = Duration.ofDays(36_500);

    private Limits() {}

    public static String checkName(String name) {
        requireNonNull(name, "name");
        if (name.isBlank()) {
            throw new IllegalArgumentException("lock name: \"" + Names.printable(name)
                    + "\" (expected: not blank, for example \"order:refund:12345\")");
        }
        checkSurrogates(name);
        // A char takes one to three bytes in UTF-8, so the length alone decides for short names.
        if (name.length() > NAME_BYTES_MAX / 3) {
            int bytes = name.getBytes(StandardCharsets.UTF_8).length;
            if (bytes > NAME_BYTES_MAX) {
                throw new IllegalArgumentException("lock name: " + bytes + " bytes, starting with \""
                        + Names.printable(name.substring(0, Character.isHighSurrogate(name.charAt(39)) ? 39 : 40))
                        + "\" (expected: at most " + NAME_BYTES_MAX
                        + " bytes in UTF-8; use a digest of long keys)");
            }
        }
        return name;
    }

    public static String checkHolder(String holder) {
        if (requireNonNull(holder, "holder").isEmpty()) {
            throw new IllegalArgumentException("holder: \"\" (expected: a holder as inspect shows it;"
                    + " forceUnlock, or forceReleaseAll of permits, ends the hold of any holder)");
        }
        return holder;
    }

    public static String checkClientName(String name) {
        requireNonNull(name, "name");
        if (name.isBlank() || name.length() > CLIENT_NAME_MAX) {
            throw new IllegalArgumentException("clientName: " + name.length() + " characters" + " (expected: 1 to "
                    + CLIENT_NAME_MAX + ", not blank, for example \"billing\")");
        }
        return name;
    }

    /** UTF-8 cannot write half of a surrogate pair: stores would receive a '?', and so one key for several names. */
    private static void checkSurrogates(String name) {
        for (int i = 0; i < name.length(); i++) {
            // Most names need no more than this, and each acquisition comes here.
            if (name.charAt(i) < Character.MIN_SURROGATE) {
                continue;
            }
            int point = name.codePointAt(i);
            // The two of a pair are one code point, of another type.
            if (Character.getType(point) == Character.SURROGATE) {
                throw new IllegalArgumentException(
                        "lock name: \"" + escaped(name) + "\" has an unpaired surrogate at index " + i
                                + " (expected: text that UTF-8 can write, without half of a surrogate pair)");
            }
            i += Character.charCount(point) - 1;
        }
    }

    /** Returns the start of a name with its surrogates written out, because a terminal may not be able to show them. */
    private static String escaped(String name) {
        StringBuilder text = new StringBuilder();
        name.chars().limit(40).forEach(one -> {
            if (Character.isSurrogate((char) one)) {
                text.append(String.format("\\u%04X", one));
            } else {
                text.append((char) one);
            }
        });
        return text.toString();
    }

    public static Duration checkLease(String what, Duration lease) {
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

    public static void checkTenure(Duration tenure) {
        requireNonNull(tenure, "tenure");
        if (tenure.isNegative() || tenure.compareTo(TENURE_MAX) > 0) {
            throw new IllegalArgumentException("tenure: " + DurationText.of(tenure) + " (expected: from zero to "
                    + DurationText.of(TENURE_MAX) + ")");
        }
    }

    public static Duration checkWait(String what, Duration wait) {
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
