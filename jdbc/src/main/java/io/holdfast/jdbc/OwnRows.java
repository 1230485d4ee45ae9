package io.holdfast.jdbc;

import io.holdfast.Lease;
import io.holdfast.LeaseLostException;
import io.holdfast.LockClient;
import io.holdfast.sql.SqlGuard;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Collection;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The leases of a transaction whose locks are in its own database: the guard of their store locks the rows of the locks,
 * and the table of {@link JdbcGuard} is not needed. The only class that knows {@code holdfast-sql}, which may be absent.
 *
 * <p>Whether that is so depends on the database alone: two clients that decided differently about one lock would not
 * exclude each other.
 */
final class OwnRows {

    private static final boolean PRESENT = isPresent();

    private final List<Lease> leases;
    private final SqlGuard guard;

    private OwnRows(List<Lease> leases, SqlGuard guard) {
        this.leases = leases;
        this.guard = guard;
    }

    private static boolean isPresent() {
        try {
            Class.forName("io.holdfast.sql.SqlGuard", false, OwnRows.class.getClassLoader());
            return true;
        } catch (ClassNotFoundException | LinkageError e) {
            return false;
        }
    }

    /** Returns whether the lease's lock is in the database of the connection. */
    static boolean has(Connection connection, Lease lease) throws SQLException {
        return PRESENT && SqlGuard.canCheck(connection, lease);
    }

    /** Returns whether the locks of all these clients are in the database of the connection, and can be guarded there. */
    static boolean areOf(Connection connection, Collection<LockClient> clients) throws SQLException {
        if (!PRESENT || clients.isEmpty()) {
            return false;
        }
        for (LockClient client : clients) {
            if (!SqlGuard.canCheck(connection, client)) {
                return false;
            }
        }
        return true;
    }

    static OwnRows check(Connection connection, List<Lease> leases) throws SQLException {
        return new OwnRows(leases, SqlGuard.check(connection, leases));
    }

    @SuppressWarnings("ReferenceEquality") // a later lease on the name is another one
    boolean covers(Lease lease) {
        return leases.stream().anyMatch(each -> each == lease);
    }

    /** Returns why the transaction is not the one that was checked; null if it is. */
    @Nullable
    LeaseLostException verify(Connection connection) throws SQLException {
        try {
            guard.verify(connection);
            return null;
        } catch (LeaseLostException e) {
            return e;
        }
    }
}
