package io.holdfast.quorum;

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

    Claim(String name, String id) {
        this.name = name;
        this.id = id;
    }

    /** The holder id in an id at the members; anything else as it is. */
    static String holderOf(String id) {
        int mark = id.lastIndexOf('~');
        return mark < 0 ? id : id.substring(0, mark);
    }
}
