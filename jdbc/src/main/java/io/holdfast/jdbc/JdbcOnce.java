package io.holdfast.jdbc;

import static java.util.Objects.requireNonNull;

import io.holdfast.OnceConflictException;
import io.holdfast.spi.Finding;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.sql.Statement;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * Does the work for a key once: the key and the result are committed together with the effects of the work, or none of
 * them is.
 *
 * <pre>{@code
 * connection.setAutoCommit(false);
 * guard.check(connection, lease);
 * String refund = once.run(connection, "refund:" + id, "amount=" + amount, c -> refunds.execute(c, id, amount));
 * connection.commit();
 * }</pre>
 *
 * <p>Another transaction with the key waits for the first, and returns its result without doing the work. When the
 * outcome of a commit is unknown, the caller repeats the transaction with the same key: the work is done then if, and
 * only if, it was not committed before.
 *
 * <p>Correctness needs no lock; a lock saves work that the database would undo. Effects outside of the transaction
 * happen at least once: pass the key on to the system that has them.
 *
 * <p>In Spring, {@code @Idempotent} does this around a method.
 *
 * <p>Immutable and thread-safe; each setter returns a changed copy.
 *
 * @see <a href="https://github.com/holdfast-lock/holdfast/blob/main/docs/idempotent.md">A request that arrives twice</a>
 */
public final class JdbcOnce {

    private static final JdbcOnce DEFAULTS = new JdbcOnce("holdfast_once", Duration.ofDays(7));

    /** The attempts whose effects the thread runs: tells a nested call on the same key from a key left behind. */
    private static final ThreadLocal<Set<String>> RUNNING = ThreadLocal.withInitial(HashSet::new);

    /** Far above every use, and far below what the time types of the databases end at. */
    private static final Duration KEPT_AT_MOST = Duration.ofDays(36_500);

    private final String table;
    private final Duration keepFor;

    private JdbcOnce(String table, Duration keepFor) {
        this.table = table;
        this.keepFor = keepFor;
    }

    /** Returns a {@code JdbcOnce} with the table {@code holdfast_once} that keeps keys for 7 days. */
    public static JdbcOnce defaults() {
        return DEFAULTS;
    }

    /**
     * Sets the table, with or without its schema.
     *
     * @throws IllegalArgumentException if it is not a plain name of letters, digits and {@code _}
     */
    public JdbcOnce table(String name) {
        return new JdbcOnce(Keys.table(name), keepFor);
    }

    /**
     * Sets how long a key is kept at least, from the beginning of its work. {@link #purge} deletes it after that; a
     * caller that repeats the key then does the work again.
     *
     * @param atLeast longer than any caller repeats a key, at least a second; 7 days by default
     * @throws IllegalArgumentException if it is shorter than a second or longer than 100 years
     */
    public JdbcOnce keepFor(Duration atLeast) {
        if (atLeast.compareTo(Duration.ofSeconds(1)) < 0 || atLeast.compareTo(KEPT_AT_MOST) > 0) {
            throw new IllegalArgumentException("keepFor: " + atLeast + " (expected: from 1 s to 36,500 days)");
        }
        return new JdbcOnce(table, atLeast);
    }

    /**
     * The work for a key.
     *
     * @param <E> the checked exception; inferred as {@link RuntimeException} where the work throws none
     */
    @FunctionalInterface
    public interface Effect<E extends Exception> {

        /**
         * Does the work in the transaction of this connection, which it neither commits nor rolls back. It sends no
         * statement that commits: DDL and TRUNCATE do on MySQL, MariaDB and H2.
         *
         * @return the result for this caller and for all later ones with the key; text without NUL
         */
        @Nullable
        String run(Connection connection) throws E;
    }

    /**
     * Returns the result for a key: of the effect, which runs now, or of the one that was committed before. Call it as
     * the first statement of the transaction after the guard. The result counts when the caller has committed.
     *
     * <p>If the effect throws, what it and this method wrote is undone, up to the state before the call.
     *
     * @param key identifies the work, for example the id of a request; text without NUL, of any length
     * @param fingerprint what must be equal in all calls with the key, for example the amount; text without NUL
     * @throws OnceConflictException if the key was committed with another fingerprint
     * @throws IllegalArgumentException if a text has a NUL or half of a surrogate pair
     * @throws IllegalStateException if the connection commits after each statement, the effect asks for its own key, or
     *     an earlier effect for the key committed by itself and failed
     * @throws SQLException if a statement fails; the transaction must be rolled back
     * @throws E if the effect throws it
     */
    public <E extends Exception> @Nullable String run(
            Connection connection, String key, String fingerprint, Effect<E> effect) throws SQLException, E {
        requireNonNull(effect, "effect");
        JdbcGuard.requireTransaction(connection, "Work that is done once");
        String keyHash = Keys.of(Keys.storable("key", requireNonNull(key, "key")));
        String fingerprintHash = Keys.of(Keys.storable("fingerprint", requireNonNull(fingerprint, "fingerprint")));
        String attempt = UUID.randomUUID().toString();
        Savepoint before = connection.setSavepoint();
        Done done = begin(connection, keyHash, key, fingerprintHash, attempt);
        if (done != null) {
            connection.releaseSavepoint(before);
            return result(done, key, keyHash, fingerprintHash);
        }
        String result;
        Set<String> running = RUNNING.get();
        running.add(attempt);
        try {
            result = effect.run(connection);
            if (result != null) {
                Keys.storable("result for the key " + Keys.quoted(key), result);
            }
            finish(connection, keyHash, result);
        } catch (Throwable e) {
            undo(connection, before, e);
            throw e;
        } finally {
            running.remove(attempt);
            if (running.isEmpty()) {
                RUNNING.remove();
            }
        }
        try {
            connection.releaseSavepoint(before);
        } catch (SQLException e) {
            throw new SQLException(
                    "The effect for the key " + Keys.quoted(key)
                            + " has ended its transaction, so a part of the work and the key may be committed without the"
                            + " result (expected: an effect without COMMIT, ROLLBACK, and DDL or TRUNCATE where those"
                            + " commit)",
                    e.getSQLState(),
                    e.getErrorCode(),
                    e);
        }
        return result;
    }

    /** A row that another call has inserted. */
    private record Done(
            String fingerprint, boolean done, @Nullable String result, String attempt) {}

    private @Nullable String result(Done found, String key, String keyHash, String fingerprint) {
        if (!found.fingerprint.equals(fingerprint)) {
            throw new OnceConflictException("The key " + Keys.quoted(key)
                    + " was used with another fingerprint (expected: the same fingerprint in every call with a key,"
                    + " or another key)");
        }
        if (!found.done) {
            // The row is this transaction's own, or it is committed: a call waits for the row of another transaction.
            throw new IllegalStateException(
                    RUNNING.get().contains(found.attempt)
                            ? "The work for the key " + Keys.quoted(key)
                                    + " is not done: it asks for its own key (expected: a key for each piece of work)"
                            : "The work for the key " + Keys.quoted(key)
                                    + " began and did not end, and its key is committed without a result: the effect ran a"
                                    + " statement that commits, such as DDL or TRUNCATE, and then failed (expected: find"
                                    + " out what it has done, then DELETE FROM " + table + " WHERE once_key = '"
                                    + keyHash
                                    + "'; no such statement in an effect)");
        }
        return found.result;
    }

    /** Inserts the key and returns null, or returns what is there. */
    private @Nullable Done begin(Connection connection, String keyHash, String key, String fingerprint, String attempt)
            throws SQLException {
        Dialect dialect = Dialect.of(connection);
        try {
            OnceRow row = new OnceRow(
                    keyHash,
                    Keys.shown(key),
                    fingerprint,
                    attempt,
                    keepFor.plusMillis(999).toSeconds());
            if (dialect.insertOnce(connection, table, row)) {
                return null;
            }
        } catch (SQLException e) {
            if (Dialect.isMissingTable(e)) {
                throw new SQLException(new OnceTable(table, dialect).missing(), e.getSQLState(), e.getErrorCode(), e);
            }
            throw dialect.isLockTimeout(e) ? waitedTooLong(e, key, dialect) : e;
        }
        try (PreparedStatement select = connection.prepareStatement(
                "SELECT fingerprint, done, result, attempt FROM " + table + " WHERE once_key = ?")) {
            select.setString(1, keyHash);
            try (ResultSet rows = select.executeQuery()) {
                if (rows.next()) {
                    return new Done(rows.getString(1), rows.getInt(2) != 0, rows.getString(3), rows.getString(4));
                }
            }
        }
        throw Dialect.snapshotTooOld("the key " + Keys.quoted(key));
    }

    private void finish(Connection connection, String keyHash, @Nullable String result) throws SQLException {
        try (PreparedStatement update =
                connection.prepareStatement("UPDATE " + table + " SET done = 1, result = ? WHERE once_key = ?")) {
            update.setString(1, result);
            update.setString(2, keyHash);
            if (update.executeUpdate() != 1) {
                throw new SQLException("The key's row is gone from " + table
                        + " (expected: an effect that neither rolls back nor deletes it)");
            }
        }
    }

    /** Undoes the key too: a caller that catches the failure and commits must not commit a key without its work. */
    private static void undo(Connection connection, Savepoint before, Throwable failure) {
        try {
            connection.rollback(before);
        } catch (SQLException e) {
            // The database is away, or has ended the transaction. If a statement of the effect has committed it, the
            // key
            // stays without a result, and the next call with the key fails with that reason.
            failure.addSuppressed(e);
        }
    }

    private static SQLException waitedTooLong(SQLException failure, String key, Dialect dialect) {
        return new SQLException(
                "The transaction must be rolled back: another transaction with the key " + Keys.quoted(key)
                        + " did not end in time (the longest wait is " + dialect.lockTimeoutSetting()
                        + " of the database)",
                failure.getSQLState(),
                failure.getErrorCode(),
                failure);
    }

    /**
     * Deletes the keys that were kept for as long as {@link #keepFor} said when their work began. Call it regularly, on
     * a connection that commits after each statement: otherwise the rows stay locked until the commit, and a
     * pool that hands out other connections undoes the deletion at the close.
     *
     * @return how many keys were deleted
     * @throws SQLException if a statement fails
     */
    public int purge(Connection connection) throws SQLException {
        return Dialect.of(connection).deleteOlder(connection, table, "once_key", "keep_until", Duration.ZERO);
    }

    /**
     * Checks that the table is there, with all its columns.
     *
     * @throws IllegalStateException if it is not; the message has the statement that makes it
     * @throws SQLException if the question fails for another reason
     */
    public void requireTable(Connection connection) throws SQLException {
        new OnceTable(table, Dialect.of(connection)).require(connection);
    }

    /**
     * Examines the table for a person: whether it is there with all its columns, how many keys it has, and whether
     * somebody purges them. Reads the whole table.
     *
     * @throws SQLException if a question fails
     */
    public List<Finding> diagnose(Connection connection) throws SQLException {
        return new OnceTable(table, Dialect.of(connection)).diagnose(connection);
    }

    /** Returns the statement that makes the table in this database if it is not there. */
    public String ddl(Connection connection) throws SQLException {
        return Dialect.of(connection).onceTable(table);
    }

    /** Makes the table if it is not there, with {@link #ddl}. */
    public void createTable(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.executeUpdate(ddl(connection));
        }
    }
}
