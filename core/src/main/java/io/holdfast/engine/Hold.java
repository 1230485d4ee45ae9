package io.holdfast.engine;

import io.holdfast.spi.HolderId;

/**
 * One remote acquisition: the name is this client's at the store. Several leases may follow each other on it.
 *
 * <p>Some clients have ten thousand of these: the sizes of the fields were chosen so that one takes 120 bytes.
 *
 * <p>All fields but {@link #deadline} and {@link #asked} are guarded by the lock of the name; these two are written
 * under it and read anywhere. {@link #dueIndex} is guarded by the lock of {@link RenewalTimer}.
 */
public final class Hold {

    /** How many low bits of a token count the hand-offs of its hold. */
    private static final int HAND_OFF_BITS = 14;

    static final int HAND_OFFS_MAX = 1 << HAND_OFF_BITS;

    /** The largest base: with the hand-offs, a token has 63 bits. */
    static final long BASE_MAX = (1L << (63 - HAND_OFF_BITS)) - 1;

    /** A message says that the hold was ended by force, and no question was sent since. */
    private static final byte DOUBTED = 1;

    /** A question that was sent because of such a message has no answer yet. */
    private static final byte ASKING = 2;

    /** Every renewal is confirmed. */
    static final long NEVER = Long.MAX_VALUE;

    public final NameEvents engine;

    /** The number of the client's acquisition. The holder id is made from it when needed, to save memory. */
    private final long acquisition;

    /** From 1 to {@link #BASE_MAX}; the store's answers were checked for that. */
    public final long base;

    final long acquiredNanos;

    /** Never moves back, except when an exact setting is sent, and after a jump of the wall clock. */
    volatile Deadline deadline;

    /**
     * The instant up to which the hold was asked for. A store that cannot promise as much at once promises a part, up
     * to {@link #deadline}, and the rest by renewals.
     */
    volatile Deadline asked;

    /** The length that the last command for it asked for. */
    long leaseNanos;

    /**
     * The greatest length that any command for it asked for. As a late command may still be executed, the store may
     * keep the hold for so long from now on, whatever the last command asked for.
     */
    private long longestNanos;

    /** The latest instant at which the store may end the hold by itself, even by a setting that is not answered yet. */
    long storeEndNanos;

    /** How many exact settings were sent. */
    int sequence;

    /** When to ask the store next, by a renewal or a look. */
    long renewAtNanos;

    /** When the timer calls next; {@link #NEVER} if the timer does not have the hold. Only for {@link Tenure}. */
    long watchedNanos = NEVER;

    /** The store keeps the hold for as long as its lease may last: no renewals, only looks. */
    boolean looksOnly;

    /**
     * A release by force was sent through this client that may end this hold. From then on no lease is handed out on
     * it: it may be gone, and the next client may hold the name.
     */
    boolean forced;

    /** When the first unconfirmed renewal was due; {@link #NEVER} if all are confirmed. */
    long unconfirmedNanos = NEVER;

    /** When the last command was sent whose answer says whether others wait. */
    long lookedOutNanos;

    /** Whether another client waits for the name. */
    boolean contended;

    /** No lease is out or being prepared, callers wait here, and the first of them was woken to claim the lock. */
    boolean open;

    /** Whether the last answer to a renewal was a failure. */
    boolean renewalFailing;

    /** {@link #DOUBTED}, {@link #ASKING}, or both. */
    private byte doubts;

    /** {@link #HAND_OFFS_MAX} if no further lease may be handed out. */
    private char handOffs;

    /** Its place in the {@link DueQueue}; −1: nowhere. */
    int dueIndex = -1;

    Hold(
            NameEvents engine,
            long acquisition,
            long base,
            Deadline deadline,
            long nowNanos,
            long sinceNanos,
            long leaseNanos,
            long longestNanos) {
        this.engine = engine;
        this.acquisition = acquisition;
        this.base = base;
        this.acquiredNanos = nowNanos;
        this.lookedOutNanos = nowNanos;
        this.deadline = deadline;
        this.asked = deadline;
        this.leaseNanos = leaseNanos;
        this.longestNanos = longestNanos;
        this.storeEndNanos = nowNanos + leaseNanos;
        this.renewAtNanos = sinceNanos + leaseNanos / 3;
    }

    /** Returns whether positive fencing tokens, in the order of the bases, can be made from a base. */
    static boolean isBase(long base) {
        return base >= 1 && base <= BASE_MAX;
    }

    public String holderId() {
        return HolderId.of(engine.settings().clientId, acquisition);
    }

    boolean isOf(String holderId) {
        return holderId().equals(holderId);
    }

    /** Notes that a command for this length is about to be sent. */
    void noteAsked(long nanos) {
        leaseNanos = nanos;
        longestNanos = Math.max(longestNanos, nanos);
    }

    public long longestNanos() {
        return longestNanos;
    }

    /** Notes that the store promises only the first part of the length that it was asked for. */
    void promisedOnly(long promisedNanos, long sinceNanos, Deadline asked) {
        this.asked = asked;
        storeEndNanos = acquiredNanos + promisedNanos;
        renewAtNanos = sinceNanos + promisedNanos / 3;
    }

    /** Returns whether the store promised less than it was asked for. */
    boolean isPartlyPromised() {
        return asked.nanos() - deadline.nanos() > 1_000_000;
    }

    /** Returns whether the store may keep it for longer than that from now on without a renewal. */
    boolean mayOutlast(long nanos, long now) {
        return Math.max(storeEndNanos, asked.nanos()) - now > nanos;
    }

    /**
     * Notes a message that the hold was ended by force. Returns whether to ask the store now; false while an earlier
     * question is open, so that any number of messages causes one question at a time.
     */
    boolean noteDoubt() {
        doubts |= DOUBTED;
        return (doubts & ASKING) == 0;
    }

    /** Notes that a renewal or a look is about to be sent, which is the question if there is a doubt. */
    void noteQuestion() {
        if (doubts != 0) {
            doubts = ASKING;
        }
    }

    /** Notes that a renewal or a look was answered, or has failed. Returns whether a doubt is left. */
    boolean noteAnswer() {
        doubts &= ~ASKING;
        return doubts != 0;
    }

    /** Returns whether no lease was handed out on it yet: it has the length of its first waiter. */
    boolean isFresh() {
        return handOffs == 0;
    }

    /** Returns whether more than one lease was handed out on it. */
    boolean wasHandedOn() {
        return handOffs > 1;
    }

    boolean hasTokenLeft() {
        return handOffs < HAND_OFFS_MAX;
    }

    /** Makes the present lease the last one on it. Its tokens are used up, so that no hand-off needs to ask for more. */
    void endHandOffs() {
        handOffs = HAND_OFFS_MAX;
    }

    /** Counts one more hand-off. */
    int nextHandOff() {
        if (!hasTokenLeft()) {
            throw new IllegalStateException("No fencing token left in " + holderId());
        }
        return handOffs++;
    }

    /** Returns the fencing token of the lease with this number on the hold with this base. */
    static long token(long base, int handOff) {
        return (base << HAND_OFF_BITS) + handOff;
    }
}
