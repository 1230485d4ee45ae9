package io.holdfast;

import io.holdfast.spi.HolderId;

/**
 * What the client has at the store: one remote acquisition. Several leases may follow each other on it.
 *
 * <p>There are very many of these in some clients: the sizes of the fields were chosen so that one takes 112 bytes.
 *
 * <p>All fields but {@link #deadline} and {@link #asked} are guarded by the lock of the name's engine; these two are written
 * under it and read anywhere. {@link #dueIndex} is guarded by the lock of {@link RenewalTimer}.
 */
final class Hold {

    /** Hand-offs count in the low 16 bits of the token; one value less than they have, as the count itself has no more. */
    private static final int HAND_OFFS_MAX = Character.MAX_VALUE;

    /** The largest base: with the hand-offs, a token has 63 bits. */
    static final long BASE_MAX = (1L << 47) - 1;

    /** Nothing is unconfirmed. */
    static final long NEVER = Long.MAX_VALUE;

    final NameEvents engine;

    /** Which acquisition of the client it is. Its holder id is made from it when it is needed: as a field, it would be large. */
    private final long acquisition;

    /** From 1 to {@link #BASE_MAX}; the store's answers were checked for that. */
    final long base;

    final long acquiredNanos;

    /**
     * Only ever moves on, except by an exact setting, which is made when no lease is out, and after a jump of the wall clock.
     */
    volatile Deadline deadline;

    /**
     * The instant up to which the hold was asked for. A store that cannot promise as much at once promises a part, up to
     * {@link #deadline}, and the rest by renewals.
     */
    volatile Deadline asked;

    /** The length that the last command for it asked for. */
    long leaseNanos;

    /**
     * The longest that any command for it asked for. Since a late one may still be executed, the store may keep the hold for
     * so long from now on, whatever was asked last.
     */
    private long longestNanos;

    /** The latest instant at which the store may end the hold by itself. */
    long storeEndNanos;

    /** How many exact settings were sent. */
    int sequence;

    /** When to ask the store next, by a renewal or a look. */
    long renewAtNanos;

    /** The store keeps the hold for as long as its lease may last: it is not renewed any more, only looked at. */
    boolean looksOnly;

    /**
     * A command that removes whatever hold there is was sent through this client. From then on no lease is handed out on this
     * one: it may be gone, and the next client may hold the name.
     */
    boolean forced;

    /** When the first of the renewals was due that are not confirmed; {@link #NEVER} if all are. */
    long unconfirmedNanos = NEVER;

    /** When the store was last asked for something whose answer tells whether others wait. */
    long lookedOutNanos;

    /** Whether somebody waits at another client. */
    boolean contended;

    /** No lease is out, none is being prepared, somebody waits, and the first of them was woken to claim. */
    boolean open;

    /** Whether the last renewal that was answered failed. */
    boolean renewalFailing;

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

    /** Whether fencing tokens can be made from a base: positive ones, in the order of the bases. */
    static boolean isBase(long base) {
        return base >= 1 && base <= BASE_MAX;
    }

    String holderId() {
        return HolderId.of(engine.settings().clientId, acquisition);
    }

    boolean isOf(String holderId) {
        return holderId().equals(holderId);
    }

    /** A command for this length is about to be sent. */
    void asking(long nanos) {
        leaseNanos = nanos;
        longestNanos = Math.max(longestNanos, nanos);
    }

    long longestNanos() {
        return longestNanos;
    }

    /** The store promises only the first part of what it was asked for. */
    void promisedOnly(long promisedNanos, long sinceNanos, Deadline asked) {
        this.asked = asked;
        storeEndNanos = acquiredNanos + promisedNanos;
        renewAtNanos = sinceNanos + promisedNanos / 3;
    }

    /** Whether the store promised less than it was asked for. */
    boolean isPartlyPromised() {
        return asked.nanos() - deadline.nanos() > 1_000_000;
    }

    /** Whether the store may keep it for longer than that from now on, if nobody renews it. */
    boolean mayOutlast(long nanos, long now) {
        return Math.max(storeEndNanos, asked.nanos()) - now > nanos;
    }

    /** Whether no lease was handed out on it so far, so that it still has the length its first waiter asked for. */
    boolean isFresh() {
        return handOffs == 0;
    }

    /** Whether more than one lease was handed out on it. */
    boolean wasHandedOn() {
        return handOffs > 1;
    }

    boolean hasTokenLeft() {
        return handOffs < HAND_OFFS_MAX;
    }

    /** Counts one more hand-off. */
    int nextHandOff() {
        if (!hasTokenLeft()) {
            throw new IllegalStateException("No fencing token left in " + holderId());
        }
        return handOffs++;
    }

    /** The fencing token of the lease that was handed out as this one. */
    long token(int handOff) {
        return (base << 16) + handOff;
    }
}
