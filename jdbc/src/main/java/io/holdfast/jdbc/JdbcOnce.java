package io.holdfast.jdbc;

import static java.util.Objects.requireNonNull;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.sql.Statement;
import java.time.Duration;
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
 * <p>Immutable and thread-safe; each setter returns a changed copy.
 */
public final class JdbcOnce {

    private static final JdbcOnce DEFAULTS = new JdbcOnce("holdfast_once");

    private final String table;

    private JdbcOnce(String table) {
        this.table = table;
    }

    /** Returns a {@code JdbcOnce} with the table {@code holdfast_once}. */
    public static JdbcOnce defaults() {
        return DEFAULTS;
    }

    /**
     * Sets the table, with or without its schema.
     *
     * @throws IllegalArgumentException if it is not a plain name of letters, digits and {@code _}
     */
    public JdbcOnce table(String name) {
        return new JdbcOnce(Keys.table(name));
    }

    /**
     * The work for a key.
     *
     * @param <E> the checked exception; inferred as {@link RuntimeException} where the work throws none
     */
    @FunctionalInterface
    public interface Effect<E extends Exception> {

        /**
         * Does the work in the transaction of this connection, which it neither commits nor rolls back.
         *
         * @return the result for this caller and for all later ones with the key
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
     * @param key identifies the work, for example the id of a request; any text
     * @param fingerprint what must be equal in all calls with the key, for example the amount; any text
     * @throws IllegalArgumentException if the key was committed with another fingerprint
     * @throws IllegalStateException if the connection commits after each statement, or the effect asks for its own key
     * @throws SQLException if a statement fails; the transaction must be rolled back
     * @throws E if the effect throws it
     */
    public <E extends Exception> @Nullable String run(
            Connection connection, String key, String fingerprint, Effect<E> effect) throws SQLException, E {
        requireNonNull(effect, "effect");
        JdbcGuard.requireTransaction(connection, "Work that is done once");
        String keyHash = Keys.of(requireNonNull(key, "key"));
        String fingerprintHash = Keys.of(requireNonNull(fingerprint, "fingerprint"));
        Savepoint before = connection.setSavepoint();
        Done done = begin(connection, keyHash, key, fingerprintHash);
        if (done != null) {
            connection.releaseSavepoint(before);
            return done.result(key, fingerprintHash);
        }
        String result;
        try {
            result = effect.run(connection);
            finish(connection, keyHash, result);
        } catch (Throwable e) {
            undo(connection, before, e);
            throw e;
        }
        connection.releaseSavepoint(before);
        return result;
    }

    /** A row that another call has inserted. */
    private record Done(
            String fingerprint, boolean done, @Nullable String result) {

        @Nullable
        String result(String key, String wanted) {
            if (!fingerprint.equals(wanted)) {
                throw new IllegalArgumentException("The key " + Keys.quoted(key)
                        + " was used with another fingerprint (expected: the same fingerprint in every call with a key,"
                        + " or another key)");
            }
            if (!done) {
                throw new IllegalStateException("The work for the key " + Keys.quoted(key)
                        + " is not done: it asks for its own key (expected: a key for each piece of work)");
            }
            return result;
        }
    }

    /** Inserts the key and returns null, or returns what is there. */
    private @Nullable Done begin(Connection connection, String keyHash, String key, String fingerprint)
            throws SQLException {
        Dialect dialect = Dialect.of(connection);
        try {
            String attempt = UUID.randomUUID().toString();
            if (dialect.insertOnce(connection, table, keyHash, Keys.shown(key), fingerprint, attempt)) {
                return null;
            }
        } catch (SQLException e) {
            throw dialect.isLockTimeout(e) ? waitedTooLong(e, key, dialect) : e;
        }
        try (PreparedStatement select =
                connection.prepareStatement("SELECT fingerprint, done, result FROM " + table + " WHERE once_key = ?")) {
            select.setString(1, keyHash);
            try (ResultSet rows = select.executeQuery()) {
                if (rows.next()) {
                    return new Done(rows.getString(1), rows.getInt(2) != 0, rows.getString(3));
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
            // The database has ended the transaction by itself, or is away: nothing of it will be committed.
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
     * Deletes the keys that are older than that. A caller that repeats such a key does the work again.
     *
     * @param olderThan longer than any caller repeats a key
     * @return how many keys were deleted
     * @throws IllegalArgumentException if negative
     * @throws SQLException if a statement fails
     */
    public int purge(Connection connection, Duration olderThan) throws SQLException {
        if (olderThan.isNegative()) {
            throw new IllegalArgumentException("olderThan: " + olderThan + " (expected: zero or longer)");
        }
        return Dialect.of(connection).deleteOlder(connection, table, "created_at", olderThan);
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
