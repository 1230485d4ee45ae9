package io.holdfast.quorum;

import java.util.concurrent.atomic.AtomicInteger;

/**
 * One round of an acquisition at the members. No other round has its id, so a late release of it ends only this round's
 * votes, never those of the next round.
 */
final class Claim {

    final String name;

    /** The id at the members: the holder id, {@code ~}, and a number. */
    final String id;

    /**
     * Whether nobody relies on the claim any more. Set before the releases are sent, so that a vote that arrives later
     * is recognized as superfluous and given back.
     */
    volatile boolean over;

    /** Bit {@code i}: the request for the lock was certainly not executed at member {@code i}. */
    private final AtomicInteger refused = new AtomicInteger();

    /** Bit {@code i}: the request for the lock was sent to member {@code i} again. */
    private final AtomicInteger filled = new AtomicInteger();

    /** Bit {@code i}: member {@code i} says that the claim was ended there by force. */
    private final AtomicInteger forced = new AtomicInteger();

    Claim(String name, String id) {
        this.name = name;
        this.id = id;
    }

    /** Notes that the first request to this member was certainly not executed. */
    void refusedAt(Seat seat) {
        refused.accumulateAndGet(1 << seat.index, (bits, bit) -> bits | bit);
    }

    /** Notes that this member is about to receive the request again. */
    void filledInAt(Seat seat) {
        filled.accumulateAndGet(1 << seat.index, (bits, bit) -> bits | bit);
    }

    /** Notes a message that the claim was ended by force at this member. Returns how many members have sent one. */
    int forcedAt(Seat seat) {
        return Integer.bitCount(forced.accumulateAndGet(1 << seat.index, (bits, bit) -> bits | bit));
    }

    /** Returns whether this member may have granted the claim, or may still grant it. */
    boolean mayBeAt(Seat seat) {
        return (refused.get() & ~filled.get() & 1 << seat.index) == 0;
    }

    /** Returns the holder id within an id at the members, or any other text unchanged. */
    static String holderOf(String id) {
        int mark = id.lastIndexOf('~');
        return mark < 0 ? id : id.substring(0, mark);
    }
}
