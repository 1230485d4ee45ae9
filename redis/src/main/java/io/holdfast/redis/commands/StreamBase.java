package io.holdfast.redis.commands;

/**
 * The id of a stream entry, as the base of fencing tokens: sixteenths of a millisecond, in the unit of the bases that the
 * scripts make, so that both grow in one order on a name.
 *
 * <p>{@code base = 16 * millis + sequence - 1} for sequences up to 15. Ids of a stream grow in the order of (millis,
 * sequence), hence so do these bases. An id with a larger sequence has no base: its number would be that of a later id.
 *
 * <p>The one less makes room for scripts: an id with sequence 0 that the server made has the server's time, and every
 * base that a script makes in that millisecond or later is larger.
 *
 * @param millis below 2<sup>43</sup>, the year 2248, if it is to have a base
 */
public record StreamBase(long millis, long sequence) {

    private static final int SEQUENCES = 16;

    /** Above that, a base would not fit a token. */
    private static final long MILLIS_MAX = (1L << 43) - 1;

    static StreamBase parse(String id) {
        int dash = id.indexOf('-');
        return new StreamBase(Long.parseLong(id.substring(0, dash)), Long.parseLong(id.substring(dash + 1)));
    }

    /** The id whose base this is. */
    static StreamBase of(long base) {
        return new StreamBase((base + 1) / SEQUENCES, (base + 1) % SEQUENCES);
    }

    /** Whether the id, and those of the next few, are of a time that tokens have room for. */
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

    /** The next larger id that has a base, for one that has none. */
    StreamBase next() {
        return new StreamBase(millis + 1, 0);
    }

    String id() {
        return millis + "-" + sequence;
    }
}
