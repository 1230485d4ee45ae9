package io.holdfast.spi;

/**
 * A renewal of one hold.
 *
 * <pre>{@code
 * store.renew(RenewRequest.extend("order:42", holderId, 30_000, 0));      // at least 30 s from now on
 * }</pre>
 *
 * @param name the lock name
 * @param holderId the id that holds
 * @param leaseMillis the time that the hold shall have left from the execution on; zero: a {@link #look}
 * @param sequence the number of exact settings of this hold so far. The store refuses a renewal with a smaller number
 *     than it has seen, so that a late renewal cannot undo a setting that was sent after it. A renewal with a larger
 *     number uses up that number, whether it is exact or not
 * @param exact false: only lengthens the hold. True: sets the time to exactly this, even if that is shorter
 * @param counted whether the reply must count the waiting clients; if not, the reply may say zero, and a store saves
 *     the work of counting
 */
public record RenewRequest(
        String name, String holderId, long leaseMillis, long sequence, boolean exact, boolean counted) {

    /** Returns a request that only lengthens the hold. Its reply counts the waiting clients. */
    public static RenewRequest extend(String name, String holderId, long leaseMillis, long sequence) {
        return new RenewRequest(name, holderId, leaseMillis, sequence, false, true);
    }

    /**
     * Returns a request that sets the time left to exactly this, even if that is shorter. Its reply counts the waiting
     * clients.
     */
    public static RenewRequest set(String name, String holderId, long leaseMillis, long sequence) {
        return new RenewRequest(name, holderId, leaseMillis, sequence, true, true);
    }

    /**
     * Returns a look: it asks whether the id still holds the name. It changes no length, uses up no number, and its
     * answer promises no time. Its reply counts the waiting clients.
     */
    public static RenewRequest look(String name, String holderId, long sequence) {
        return extend(name, holderId, 0, sequence);
    }

    /** Returns this request with or without the count of the waiting clients in its reply. */
    public RenewRequest counted(boolean wanted) {
        return new RenewRequest(name, holderId, leaseMillis, sequence, exact, wanted);
    }

    /** Returns this request for the name that another store uses. */
    public RenewRequest named(String other) {
        return new RenewRequest(other, holderId, leaseMillis, sequence, exact, counted);
    }

    /** Returns whether this is a {@link #look}. */
    public boolean isLook() {
        return leaseMillis == 0 && !exact;
    }
}
