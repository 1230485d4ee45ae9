package io.holdfast.jdbc;

import static io.holdfast.jdbc.Dialect.LOCKING;
import static java.util.Objects.requireNonNull;

import io.holdfast.Lease;
import io.holdfast.LeaseLostException;
import io.holdfast.LockClient;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Supplier;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * Refuses the transactions of old lock holders, in the database that they write to.
 *
 * <pre>{@code
 * try (Lease lease = locks.acquire("order:" + id); Connection connection = database.getConnection()) {
 *     connection.setAutoCommit(false);
 *     guard.check(connection, lease);               // the first statement of the transaction
 *     refunds.execute(connection, id);
 *     connection.commit();
 * }
 * }</pre>
 *
 * <p>A table has one row for each lock name, with the largest triple of epoch, fencing token and holder id that was
 * used. {@link #check} raises the row to the triple of the lease. The database locks the row until the transaction
 * ends. So, for one name, the guarded transactions that commit do it one after the other, in the order of their tokens.
 * What one of them does after its check sees the effects of all before it. This needs no clock, and holds however long
 * the process was stopped.
 *
 * <p>Not covered: statements before the check, other connections, caches, effects outside the database, transactions
 * without a check, and a database that loses commits. An old holder may commit until the check of the next holder has
 * returned.
 *
 * <p>Where the locks are in the same PostgreSQL database as the data ({@code holdfast-sql}), the check locks the lock's
 * own row instead, as {@code SqlGuard} does: stronger, and without a table of the guard.
 *
 * <p>The tokens in one table must come from one store. Clients of several stores use one table each.
 *
 * <p>Immutable and thread-safe; each setter returns a changed copy.
 */
public final class JdbcGuard {

    /** The shortest time after which a row may go. Longer than any transaction may last. */
    private static final Duration UNUSED_MIN = Duration.ofDays(1);

    private static final JdbcGuard DEFAULTS = new JdbcGuard("holdfast_guard", 0);

    private final String table;
    private final long epoch;

    private JdbcGuard(String table, long epoch) {
        this.table = table;
        this.epoch = epoch;
    }

    /** Returns a guard with the table {@code holdfast_guard} and epoch 0. */
    public static JdbcGuard defaults() {
        return DEFAULTS;
    }

    /**
     * Sets the table, with or without its schema.
     *
     * @throws IllegalArgumentException if it is not a plain name of letters, digits and {@code _}
     */
    public JdbcGuard table(String name) {
        return new JdbcGuard(Keys.table(name), epoch);
    }

    /**
     * Sets the number that counts before the tokens. Raise it, for all processes, when the locks move to another store
     * or the tokens of the store have gone back: a lease of a larger epoch is newer whatever its token is. Never lower
     * it.
     *
     * @throws IllegalArgumentException if negative
     */
    public JdbcGuard epoch(long number) {
        if (number < 0) {
            throw new IllegalArgumentException("epoch: " + number + " (expected: 0 or larger)");
        }
        return new JdbcGuard(table, number);
    }

    /**
     * Makes the database refuse this transaction if a later lease has been used, and every earlier lease from now on.
     * Call it as the first statement of the transaction, once for all its leases. It may be called again with the same
     * leases, in this transaction or in a later one.
     *
     * <p>Waits while the transaction of another holder of a name is open, at most for as long as the database waits for
     * the lock on a row. After any exception the transaction must be rolled back.
     *
     * @throws LeaseLostException if a lease is lost, or a later lease has been used
     * @throws IllegalStateException if a lease was released, or the connection commits after each statement
     * @throws IllegalArgumentException if there is no lease, if two different leases have one name, or if a lease is
     *     {@linkplain Lease#isExclusive not exclusive}
     * @throws SQLException if a statement fails; with SQL state 40001 if the isolation level of the transaction makes
     *     it unable to see what another one has committed: repeat it
     */
    public void check(Connection connection, Lease... leases) throws SQLException {
        check(connection, List.of(leases));
    }

    /** Does the same as {@link #check(Connection, Lease...)}, for example with the leases of a multi-lease. */
    public void check(Connection connection, Collection<? extends Lease> leases) throws SQLException {
        if (leases.isEmpty()) {
            throw new IllegalArgumentException("No lease (expected: the leases that the transaction depends on)");
        }
        var unused = checked(connection, leases);
    }

    private static void requireExclusive(Collection<? extends Lease> leases) {
        for (Lease lease : leases) {
            if (!lease.isExclusive()) {
                throw new IllegalArgumentException("A permit or a reader's lease of " + Keys.quoted(lease.name())
                        + " cannot guard a transaction: several are valid at once, and a token does not order them"
                        + " (expected: the lease of a lock or of a writer)");
            }
        }
    }

    /**
     * Checks leases that are exclusive.
     *
     * @return those whose locks are in the same database; null if there are none
     */
    @Nullable
    OwnRows checked(Connection connection, Collection<? extends Lease> leases) throws SQLException {
        requireExclusive(leases);
        requireTransaction(connection, "A guard");
        // Before the first statement: this is what makes it safe to delete rows that are long unused.
        leases.forEach(Lease::ensureValid);
        List<Lease> own = new ArrayList<>();
        List<Lease> others = new ArrayList<>();
        for (Lease lease : leases) {
            (OwnRows.has(connection, lease) ? own : others).add(lease);
        }
        OwnRows rows = own.isEmpty() ? null : OwnRows.check(connection, own);
        raise(connection, others);
        return rows;
    }

    private void raise(Connection connection, Collection<? extends Lease> leases) throws SQLException {
        Dialect dialect = Dialect.of(connection);
        for (GuardRow row : rows(leases)) {
            GuardRow.Found larger;
            try {
                larger = dialect.raise(connection, table, row);
            } catch (SQLException e) {
                throw explained(e, row, dialect);
            }
            if (larger != null) {
                throw refused(row, larger);
            }
        }
    }

    /**
     * Verifies by a locking read that a transaction is the one that was checked, or follows a commit of the same lease.
     * Raises no row: after a rollback by the database, which took the first part of the work, that would succeed.
     *
     * @return null if each row has exactly the triple of its lease
     */
    @Nullable
    LeaseLostException verify(Connection connection, Collection<? extends Lease> leases) throws SQLException {
        Dialect dialect = Dialect.of(connection);
        for (GuardRow row : rows(leases)) {
            GuardRow.Found found;
            try {
                found = Dialect.find(connection, table, row.key(), LOCKING);
            } catch (SQLException e) {
                throw explained(e, row, dialect);
            }
            if (found == null || !found.isOf(row)) {
                return found != null && found.isAfter(row) ? refused(row, found) : replaced(row);
            }
        }
        return null;
    }

    /** Returns the rows in the order of their keys, so that transactions with several names do not wait in a ring. */
    private Collection<GuardRow> rows(Collection<? extends Lease> leases) {
        Map<String, GuardRow> rows = new TreeMap<>();
        for (Lease lease : leases) {
            GuardRow row = GuardRow.of(epoch, lease);
            GuardRow other = rows.put(row.key(), row);
            if (other != null && !other.equals(row)) {
                throw new IllegalArgumentException("Two leases on " + Keys.quoted(lease.name()) + " with the tokens "
                        + other.token() + " and " + row.token()
                        + " (expected: one lease for each name, and a table for each store)");
            }
        }
        return rows.values();
    }

    /** Refuses a connection on which the lock on a row would end with the statement. */
    static void requireTransaction(Connection connection, String what) throws SQLException {
        if (connection.getAutoCommit()) {
            throw new IllegalStateException(
                    what + " on a connection that commits after each statement (expected: a transaction, that is"
                            + " setAutoCommit(false))");
        }
    }

    private LeaseLostException refused(GuardRow row, GuardRow.Found larger) {
        return new LeaseLostException("The transaction must be rolled back: the lease on " + Keys.quoted(row.name())
                + " with token " + row.token() + " (epoch " + row.epoch() + ", holder " + row.holder()
                + ") is older than the last one in " + table + ", which has token " + larger.token() + " (epoch "
                + larger.epoch() + ", holder " + larger.holder() + ", used at " + larger.usedAt()
                + "). If the locks have moved to another store, or its tokens went back: raise the guard's epoch above "
                + larger.epoch() + " in all processes, and never change tokens in the table");
    }

    private LeaseLostException replaced(GuardRow row) {
        return new LeaseLostException("The transaction must be rolled back: it is not the one that was checked for the"
                + " lease on " + Keys.quoted(row.name()) + " with token " + row.token() + ", which " + table
                + " does not have any more. The database has ended that one before its commit, for example by an idle"
                + " timeout, a deadlock or a ROLLBACK that was sent as SQL");
    }

    private SQLException explained(SQLException failure, GuardRow row, Dialect dialect) {
        if (dialect.isLockTimeout(failure)) {
            return waitedTooLong(failure, row, dialect);
        }
        return Dialect.isMissingTable(failure) ? missingTable(failure, dialect) : failure;
    }

    private SQLException missingTable(SQLException failure, Dialect dialect) {
        return new SQLException(
                "The guard's table " + table + " is not in the database (expected: a migration with the statement "
                        + dialect.guardTable(table) + ")",
                failure.getSQLState(),
                failure.getErrorCode(),
                failure);
    }

    private static SQLException waitedTooLong(SQLException failure, GuardRow row, Dialect dialect) {
        return new SQLException(
                "The transaction must be rolled back: another transaction under the lock " + Keys.quoted(row.name())
                        + " did not end in time; its process may have been stopped (the longest wait is "
                        + dialect.lockTimeoutSetting() + " of the database)",
                failure.getSQLState(),
                failure.getErrorCode(),
                failure);
    }

    /**
     * Returns a data source that checks its transactions: before their first statement by {@link #check}, and before
     * their commit by a locking read. The read refuses a transaction that is not the checked one any more. The read
     * costs one round trip for each lease. A lease that a later statement is the first to see is checked before that
     * statement; what was read before it is not covered.
     *
     * <p>A statement that may end the transaction (DDL, {@code CALL}, {@code COMMIT}) is preceded by the read and
     * followed by a check. What was sent around the connection, by {@code unwrap} for example, is checked at the commit.
     * After a deadlock (1213, or SQL state 40001) and after any refusal, all but the rollback is refused. A commit that
     * is refused rolls back.
     *
     * <p>An inner transaction of the same thread and data source would wait for the row that the outer one has locked.
     * So it makes the read on the outer connection, before its first statement and before its commit. If the database
     * has ended the outer transaction, an inner one that has not begun checks for itself; otherwise it is refused.
     *
     * <p>Connections that commit after each statement, and those that report to be read-only, check nothing. Not
     * covered either: a transaction manager that commits by another way (JTA, XA), what a procedure does between its own
     * commits, and commits of the unwrapped connection.
     *
     * @param leases returns the leases that the calling thread works under; called before each statement
     */
    public DataSource guarded(DataSource dataSource, Supplier<? extends Collection<? extends Lease>> leases) {
        return new GuardedDataSource(requireNonNull(dataSource, "dataSource"), this, requireNonNull(leases, "leases"));
    }

    /**
     * Deletes the rows of names that no transaction has checked for that long. Safe, because a check asks its lease
     * first: an old holder is refused without the row. Call it now and then where names do not repeat, on a connection
     * that commits after each statement: otherwise the rows stay locked until the commit.
     *
     * @param unusedFor at least a day, and longer than any transaction may last
     * @return how many rows were deleted
     * @throws IllegalArgumentException if shorter than a day
     * @throws SQLException if a statement fails
     */
    public int purge(Connection connection, Duration unusedFor) throws SQLException {
        if (unusedFor.compareTo(UNUSED_MIN) < 0) {
            throw new IllegalArgumentException(
                    "unusedFor: " + unusedFor + " (expected: at least " + UNUSED_MIN + ", one day)");
        }
        return Dialect.of(connection).deleteOlder(connection, table, "lock_key", "used_at", unusedFor);
    }

    /**
     * Verifies, by the locking read of a guarded commit, that the database has the table and can lock its rows. For the
     * start of an application: without the table every check would fail.
     *
     * @throws IllegalStateException if the table is missing, or the read fails on a database that is not supported;
     *     names the statement of {@link #ddl} or the supported databases
     * @throws SQLException if the read fails for another reason, such as a missing right
     */
    public void requireTable(Connection connection) throws SQLException {
        try {
            // A database that accepts no write may refuse to lock rows, and nothing is checked there.
            Dialect.find(connection, table, "", connection.isReadOnly() ? "" : LOCKING);
        } catch (SQLException e) {
            if (Dialect.isMissingTable(e)) {
                throw new IllegalStateException(
                        missingTable(e, Dialect.of(connection)).getMessage(), e);
            }
            if (!Dialect.isSupported(connection)) {
                throw new IllegalStateException(
                        "The guard cannot lock a row of its table " + table + " with SELECT"
                                + LOCKING + " on "
                                + connection.getMetaData().getDatabaseProductName()
                                + " (expected: the table on PostgreSQL, MySQL, MariaDB or H2): " + e.getMessage(),
                        e);
            }
            throw e;
        }
    }

    /**
     * Does the same as {@link #requireTable(Connection)}, unless the locks of all these clients are in the connection's
     * own PostgreSQL database: there the guard needs no table.
     *
     * @throws IllegalStateException as {@link #requireTable(Connection)}
     * @throws SQLException as {@link #requireTable(Connection)}, also if the user of the connection may not lock the rows
     *     of the locks
     */
    public void requireTable(Connection connection, Collection<LockClient> clients) throws SQLException {
        if (!OwnRows.areOf(connection, clients)) {
            requireTable(connection);
        }
    }

    /** Returns the statement that makes the table in this database if it is not there. */
    public String ddl(Connection connection) throws SQLException {
        return Dialect.of(connection).guardTable(table);
    }

    /** Makes the table if it is not there, with {@link #ddl}. */
    public void createTable(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.executeUpdate(ddl(connection));
        }
    }
}
