package io.holdfast.sql;

import io.holdfast.Lease;
import io.holdfast.LeaseLostException;
import io.holdfast.LockClient;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Collection;
import java.util.List;

/**
 * Lets no other hold on a lock begin while a transaction is open, where the locks are in the same PostgreSQL database as
 * the data.
 *
 * <pre>{@code
 * try (Lease lease = locks.acquire("order:" + id); Connection connection = database.getConnection()) {
 *     connection.setAutoCommit(false);
 *     SqlGuard guard = SqlGuard.check(connection, lease); // the first statement of the transaction
 *     refunds.execute(connection, id);
 *     guard.commitAndRelease(connection);
 * }
 * }</pre>
 *
 * <p>The check locks the key of the lock's own row until the transaction ends. A renewal or a release does not change
 * the key; the next hold does. So while a guarded transaction is open, no later hold on the name exists, whatever clocks
 * and pauses do, even if the lease has run out. What the next holder does sees all that the transaction has committed,
 * also without a check of its own. There is no second table.
 *
 * <p>Whoever wants the lock meanwhile waits as for a holder, without a connection. The lease is the last one on its hold:
 * the next waiter of this client gets a hold of its own from the store.
 *
 * <p><b>An open transaction keeps the lock.</b> The end of the lease does not free it any more. So take the lock before
 * the transaction, and set {@code lock_timeout} and {@code idle_in_transaction_session_timeout} in the application's
 * sessions. Otherwise a stopped process with an open transaction keeps the name until its connection ends.
 *
 * <p>Not covered: statements before the check, other connections, effects outside the database, and a rollback to a
 * savepoint that was set before the check, which ends the guard silently. Read-only transactions are not checked, for
 * they change nothing. The user of the connection needs the right {@code UPDATE} on the table {@code holdfast_lock},
 * beside {@code SELECT}.
 *
 * <p>For other databases and stores there is {@code JdbcGuard} of {@code holdfast-jdbc}, which uses this class by itself
 * where it can.
 */
public final class SqlGuard {

    private final List<Lease> leases;
    private final GuardedRows rows;

    private SqlGuard(List<Lease> leases, GuardedRows rows) {
        this.leases = leases;
        this.rows = rows;
    }

    /**
     * Makes the transaction of this connection one that keeps these locks from other holds until it ends. Call it as the
     * first statement of the transaction, once for all its leases. It may be called again.
     *
     * <p>If the check fails, nothing of the transaction can be committed any more: roll it back.
     *
     * @return the guard, for {@link #commitAndRelease} and {@link #verify}
     * @throws LeaseLostException if a lease is lost, its hold is not in the table any more, or the transaction's snapshot
     *     is older than the hold
     * @throws IllegalStateException if a lease was released, or the connection commits after each statement
     * @throws IllegalArgumentException if there is no lease, if one is {@linkplain Lease#isExclusive not exclusive} or
     *     not of a client whose store is PostgreSQL, or if the leases are in different databases
     * @throws SQLException if a statement fails, or the connection is to another server or database than the locks; with
     *     SQL state 40001 as for any transaction above READ COMMITTED: repeat it
     */
    public static SqlGuard check(Connection connection, Lease... leases) throws SQLException {
        return check(connection, List.of(leases));
    }

    /** Does the same as {@link #check(Connection, Lease...)}, for example with the leases of a multi-lease. */
    public static SqlGuard check(Connection connection, Collection<? extends Lease> leases) throws SQLException {
        GuardedRows rows = GuardedRows.of(leases);
        if (connection.getAutoCommit()) {
            throw new IllegalStateException(
                    "A guard on a connection that commits after each statement (expected: a transaction, that is"
                            + " setAutoCommit(false))");
        }
        rows.lock(connection);
        return new SqlGuard(List.copyOf(leases), rows);
    }

    /**
     * Returns whether {@link #check} can guard the lease on this connection: its lock is in the connection's own
     * PostgreSQL database. May send a query, which cannot fail for lack of a table.
     *
     * @throws SQLException if the database of the connection or of the locks does not answer
     */
    public static boolean canCheck(Connection connection, Lease lease) throws SQLException {
        return GuardedRows.areReachedBy(connection, lease);
    }

    /**
     * Returns whether {@link #check} can guard the leases of the client's locks on this connection, for the start of an
     * application. It tries to lock no row of their table, so that a missing right is found.
     *
     * @throws SQLException if the database of the connection or of the locks does not answer, or the user of the
     *     connection may not lock a row: the message names the right
     */
    public static boolean canCheck(Connection connection, LockClient client) throws SQLException {
        return GuardedRows.canBeLockedBy(connection, client);
    }

    /**
     * Verifies, as the last statement before the commit, that the connection is still in the transaction that was
     * checked, and that it still keeps the locks. For code that cannot know what was sent over the connection.
     *
     * @throws LeaseLostException if not: roll back
     * @throws SQLException if the statement fails
     */
    public void verify(Connection connection) throws SQLException {
        rows.verify(connection);
    }

    /**
     * Releases the leases and commits, so that the next hold on each lock begins when the transaction has ended. The hold
     * begins not before the data of the transaction can be seen, and without a command after the commit. If this
     * process ends meanwhile, the locks are free as soon as the server has ended the transaction.
     *
     * <p>The release is sent first, by the store's own connection. Until the transaction ends, its guard keeps others
     * from the locks. So it does not matter whether the outcome of the commit is known: after a failure the locks are
     * free as well, and a caller that repeats the work acquires them anew. A lease that was lost does not prevent the
     * commit, for nobody else can have held the lock.
     *
     * <p>For transactions that the caller begins and commits; not inside a transaction that a framework commits.
     *
     * @throws LeaseLostException if the connection is not in the transaction that was checked: roll back
     * @throws SQLException if a statement or the commit fails, as for {@link Connection#commit}
     */
    public void commitAndRelease(Connection connection) throws SQLException {
        for (Lease lease : leases) {
            try {
                lease.release();
            } catch (LeaseLostException e) {
                // The lease ran out or was ended by force. The client has told its listeners.
            }
        }
        // After the release: if the guard ended before, somebody may hold the lock now, and nothing is committed.
        rows.verifyTelling(connection);
        connection.commit();
    }
}
