package io.holdfast.redis.commands;

/**
 * The id of a stream entry, as the base of fencing tokens. Its unit is a sixteenth of a millisecond, as in the bases
 * that scripts make, so that both grow in one order on a name.
 *
 * <p>{@code base = 16 * millis + sequence - 1} for sequences up to 15. Ids of a stream grow in the order of (millis,
 * sequence), and so do these bases. An id with a larger sequence has no base: its number would be that of a later id.
 *
 * <p>The "- 1" makes room for scripts: an id with sequence 0 that the server made has the server's time, and every base
 * that a script makes in that millisecond or later is larger.
 *
 * @param millis below 2<sup>43</sup>, the year 2248, if the id has a base
 */
public record StreamBase(long millis, long sequence) {

    private static final int SEQUENCES = 16;

    /** A base from a later time would not fit a token. */
    private static final long MILLIS_MAX = (1L << 43) - 1;

    static StreamBase parse(String id) {
        int dash = id.indexOf('-');
        return new StreamBase(Long.parseLong(id.substring(0, dash)), Long.parseLong(id.substring(dash + 1)));
    }

    /** Returns the id whose base this is. */
    static StreamBase of(long base) {
        return new StreamBase((base + 1) / SEQUENCES, (base + 1) % SEQUENCES);
    }

    /** Whether tokens have room for the time of this id and of the next few. */
    boolean isInRange() {
        return millis < MILLIS_MAX;
    }

    boolean hasBase() {
        return sequence < SEQUENCES;
    }

    long base() {
        if (!hasBase()) {
            throw new IllegalStateException("No base in " + id());
        }
        return SEQUENCES * millis + sequence - 1;
    }

    /** Returns the next larger id that has a base, for an id that has none. */
    StreamBase next() {
        return new StreamBase(millis + 1, 0);
    }

    String id() {
        return millis + "-" + sequence;
    }
}
