package io.holdfast.jdbc;

import static java.util.Objects.requireNonNull;

import io.holdfast.Lease;
import io.holdfast.LeaseLostException;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Supplier;
import javax.sql.DataSource;

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
 * ends. So, for one name, the guarded transactions that commit do so one after the other in the order of their tokens,
 * and what one of them does after its check sees the effects of all before it. This needs no clock, and holds however
 * long the process was stopped.
 *
 * <p>Not covered: statements before the check, other connections, caches, effects outside the database, transactions
 * without a check, and a database that loses commits. An old holder may commit until the check of the next holder has
 * returned.
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
     * @throws IllegalArgumentException if there is no lease, or if two different leases have one name
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
        requireTransaction(connection, "A guard");
        // In the order of their keys, so that two transactions with several names do not wait for each other in a ring.
        Map<String, GuardRow> rows = new TreeMap<>();
        for (Lease lease : leases) {
            // Before the first statement: this is what makes it safe to delete rows that are long unused.
            lease.ensureValid();
            GuardRow row = GuardRow.of(epoch, lease);
            GuardRow other = rows.put(row.key(), row);
            if (other != null && !other.equals(row)) {
                throw new IllegalArgumentException("Two leases on " + Keys.quoted(lease.name()) + " with the tokens "
                        + other.token() + " and " + row.token()
                        + " (expected: one lease for each name, and a table for each store)");
            }
        }
        Dialect dialect = Dialect.of(connection);
        for (GuardRow row : rows.values()) {
            GuardRow.Found larger;
            try {
                larger = dialect.raise(connection, table, row);
            } catch (SQLException e) {
                throw dialect.isLockTimeout(e) ? waitedTooLong(e, row, dialect) : e;
            }
            if (larger != null) {
                throw refused(row, larger);
            }
        }
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
     * Returns a data source whose transactions begin with the check by themselves: before the first statement of a
     * transaction, each connection checks the leases that the supplier returns. A lease that a later statement is the
     * first to see is checked before that statement; what was read before it is not covered.
     *
     * <p>Connections that commit after each statement, and those that report to be read-only, check nothing. A
     * transaction is not checked for a lease that another open transaction of the same thread and data source has
     * checked: it would wait for the lock of its own thread. After a refusal every statement and the commit fail until
     * the rollback.
     *
     * @param leases returns the leases that the calling thread works under; called before each statement
     */
    public DataSource guarded(DataSource dataSource, Supplier<? extends Collection<? extends Lease>> leases) {
        return new GuardedDataSource(requireNonNull(dataSource, "dataSource"), this, requireNonNull(leases, "leases"));
    }

    /**
     * Deletes the rows of names that no transaction has checked for that long. Safe, because a check asks its lease
     * first: an old holder is refused without the row. Call it now and then where names do not repeat.
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
        return Dialect.of(connection).deleteOlder(connection, table, "used_at", unusedFor);
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
