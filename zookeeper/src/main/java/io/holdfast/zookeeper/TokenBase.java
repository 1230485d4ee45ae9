package io.holdfast.zookeeper;

import io.holdfast.spi.StoreException;

/**
 * The base of a hold's fencing tokens: the zxid of the transaction that created its node.
 *
 * <p>A zxid is the epoch (the number of the leader's election) in the upper 32 bits and a counter in the lower 32. The
 * ensemble orders all writes by it and never uses one twice, over sessions and leaders; nodes of one lock are granted
 * in the order of their creation. The base is the zxid itself, so 17 bits are left for the epoch: 131,071 elections.
 * After that a lock is refused; nothing is cut off.
 */
final class TokenBase {

    private static final int BITS = 49;

    private TokenBase() {}

    /**
     * Returns the base.
     *
     * @throws StoreException if tokens would overflow
     */
    static long of(long zxid, String server) {
        if (zxid <= 0 || zxid >>> BITS != 0) {
            throw new StoreException(
                    StoreException.Outcome.FATAL,
                    "No fencing token can be made from the zxid 0x" + Long.toHexString(zxid) + " of " + server
                            + ": it is in epoch "
                            + (zxid >>> 32) + ", and tokens have room for " + ((1 << (BITS - 32)) - 1)
                            + " (move the locks to a new ensemble, and see why this one elects leaders so often)",
                    null);
        }
        return zxid;
    }
}
