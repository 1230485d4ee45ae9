package io.holdfast.demo.scenes;

/**
 * The overlap detector of one critical section: counts who is inside and looks at the fencing tokens they bring.
 * Thread-safe.
 */
final class Section {

    private int inside; // all guarded by this
    private int mostInside;
    private long entries;
    private long lastToken;
    private long tokensOutOfOrder;

    /** @param token of the lease, or 0 without a lock */
    synchronized void enter(long token) {
        entries++;
        inside++;
        mostInside = Math.max(mostInside, inside);
        if (token != 0) {
            if (token <= lastToken) {
                tokensOutOfOrder++;
            }
            lastToken = token;
        }
    }

    synchronized void leave() {
        inside--;
    }

    synchronized int inside() {
        return inside;
    }

    /** How many were inside at once; 1 is right. */
    synchronized int mostInside() {
        return mostInside;
    }

    synchronized long entries() {
        return entries;
    }

    /** How many entries came with a token not larger than the one before. */
    synchronized long tokensOutOfOrder() {
        return tokensOutOfOrder;
    }
}
