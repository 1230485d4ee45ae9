package io.holdfast.jdbc;

import io.holdfast.Lease;

/**
 * What one lease writes to the table of the guard.
 *
 * <p>The triple of epoch, token and holder is ordered in this sequence of its parts. Invariant of the table: the triple
 * of a row never becomes smaller while the row exists.
 *
 * @param key identifies the lock, see {@link Subject#key}
 * @param name the lock name, for people
 */
record GuardRow(String key, long epoch, long token, String holder, String name) {

    static GuardRow of(long epoch, Lease lease) {
        return new GuardRow(
                Subject.of(lease).key(), epoch, lease.fencingToken(), lease.holderId(), Keys.shown(lease.name()));
    }

    /**
     * The triple that a lease was compared with.
     *
     * @param usedAt when it was last used by the clock of the database, as text for people
     */
    record Found(long epoch, long token, String holder, String usedAt) {

        boolean isOf(GuardRow row) {
            return epoch == row.epoch && token == row.token && holder.equals(row.holder);
        }

        boolean isAfter(GuardRow row) {
            if (epoch != row.epoch) {
                return epoch > row.epoch;
            }
            return token != row.token ? token > row.token : holder.compareTo(row.holder) > 0;
        }
    }
}
