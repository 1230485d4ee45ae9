package io.holdfast.jdbc;

import io.holdfast.Lease;
import io.holdfast.hold.StoredHold;

/**
 * What the fencing tokens of a lease are compared for. A lock and a read-write lock of one name are two things: an
 * older lease of one may be valid beside a later one of the other.
 *
 * @param writer whether it is the writer of a read-write lock
 */
record Subject(String name, boolean writer) {

    static Subject of(Lease lease) {
        StoredHold hold = StoredHold.of(lease);
        return new Subject(lease.name(), hold != null && hold.isOfPool());
    }

    /** Returns its key in a table. That of a writer is no lock's: w is no hexadecimal digit. */
    String key() {
        String key = Keys.of(name);
        return writer ? "w" + key.substring(1) : key;
    }
}
