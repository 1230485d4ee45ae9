package io.holdfast.sql;

/**
 * A row of the table as it was read, with the instant of the reading. All instants are microseconds since 1970 by the
 * database's clock.
 *
 * <p>Invariant: on PostgreSQL it was the newest row of its key. Nothing is written to a row that was read otherwise.
 *
 * @param base of the last hold; 0 before the first one
 * @param version grows with each change of the row, from a random number; no two rows of a key begin with the same one
 * @param holder of a lock; empty if it is free, and for a pool
 * @param endMicros when the hold ends, or the last hold of a pool
 * @param settings the largest number of an exact setting of the hold
 * @param leaseMillis how long the hold was granted for
 * @param queue the entries, see {@link QueueText}
 * @param holders the holds of a pool, see {@link QueueText}; empty for a lock
 * @param contended how often somebody began to wait behind the hold, or in the pool, with nobody before
 * @param nowMicros when it was read
 * @param mark which server's clock that is
 * @param isPresumed whether nobody has read it so, and {@code nowMicros} is ahead of the clock; see {@link #presumedAt}
 */
record Row(
        long base,
        long version,
        String holder,
        long endMicros,
        long settings,
        long leaseMillis,
        String queue,
        String holders,
        long contended,
        long nowMicros,
        long mark,
        boolean isPresumed) {

    /** Returns the row that this one has become by a change which was written. */
    Row after(Change change) {
        return new Row(
                change.base(),
                version + 1,
                change.holder(),
                change.endMicros(),
                change.settings(),
                change.leaseMillis(),
                change.queue(),
                change.holders(),
                change.contended(),
                nowMicros,
                mark,
                false);
    }

    /**
     * Returns the row as of an instant that is ahead of the database's clock. The database refuses to write it later:
     * then the clock of the writing is not ahead of it. So what is dated by it is dated too late, never too early.
     */
    Row presumedAt(long micros) {
        return new Row(
                base, version, holder, endMicros, settings, leaseMillis, queue, holders, contended, micros, mark, true);
    }

    /** Returns until when the database may write what becomes of the row. */
    long notAfterMicros() {
        return isPresumed ? nowMicros : nowMicros + Link.LATE_MICROS;
    }

    /** Returns whether nobody holds the lock. Not for a pool. */
    boolean isOver() {
        return holder.isEmpty() || endMicros <= nowMicros;
    }

    boolean isHeldBy(String holderId) {
        return holder.equals(holderId) && endMicros > nowMicros;
    }

    /** What a command makes of a row. */
    record Change(
            long base,
            String holder,
            long endMicros,
            long settings,
            long leaseMillis,
            String queue,
            String holders,
            long contended) {}
}
