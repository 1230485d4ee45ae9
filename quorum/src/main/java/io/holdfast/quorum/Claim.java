package io.holdfast.quorum;

import java.util.concurrent.atomic.AtomicInteger;

/**
 * One round of an acquisition at the members, under an id that is used for nothing else: a release of it that is late can
 * only ever end this round's votes, not those of the next round.
 */
final class Claim {

    final String name;

    /** The id at the members: the holder id, {@code ~}, and a number. */
    final String id;

    /**
     * Nobody relies on it any more. Set before the releases are sent, so that a vote that arrives later is known to be
     * one too many, and is given back in turn.
     */
    volatile boolean over;

    /** Bit {@code i}: the request for the lock was surely not executed at member {@code i}. */
    private final AtomicInteger refused = new AtomicInteger();

    /** Bit {@code i}: member {@code i} was asked for it once more. */
    private final AtomicInteger filled = new AtomicInteger();

    Claim(String name, String id) {
        this.name = name;
        this.id = id;
    }

    /** The first request to this member was surely not executed. */
    void refusedAt(Seat seat) {
        refused.accumulateAndGet(1 << seat.index, (bits, bit) -> bits | bit);
    }

    /** This member is about to be asked once more. */
    void filledInAt(Seat seat) {
        filled.accumulateAndGet(1 << seat.index, (bits, bit) -> bits | bit);
    }

    /** Whether this member may have it, or get it yet. */
    boolean mayBeAt(Seat seat) {
        return (refused.get() & ~filled.get() & 1 << seat.index) == 0;
    }

    /** The holder id in an id at the members; anything else as it is. */
    static String holderOf(String id) {
        int mark = id.lastIndexOf('~');
        return mark < 0 ? id : id.substring(0, mark);
    }
}
