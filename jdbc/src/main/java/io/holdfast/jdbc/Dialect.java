package io.holdfast.jdbc;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.SQLNonTransientConnectionException;
import java.sql.SQLRecoverableException;
import java.sql.SQLTransactionRollbackException;
import java.time.Duration;
import java.time.OffsetDateTime;
import java.time.temporal.Temporal;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The statements of one kind of database. Stateless. */
abstract class Dialect {

    /** So that a purge never locks many rows. */
    static final int PURGED_AT_ONCE = 1000;

    /** Ends a query that locks the rows it finds. Not every database has it. */
    static final String LOCKING = " FOR UPDATE";

    /** Failed before, idle for too long in a transaction (PostgreSQL); the session was closed (H2). */
    private static final Set<String> ENDED = Set.of("25P02", "25P03", "90067", "90121", "90135");

    /** PostgreSQL; MySQL, MariaDB and H2; H2. */
    private static final Set<String> MISSING_TABLE = Set.of("42P01", "42S02", "42S03", "42S04");

    /** Returns the dialect of a database. Costs no statement on the drivers of the databases that have one. */
    static Dialect of(Connection connection) throws SQLException {
        String product = connection.getMetaData().getDatabaseProductName().toLowerCase(Locale.ROOT);
        if (product.contains("postgresql")) {
            return new PostgresDialect();
        }
        return product.contains("mysql") || product.contains("mariadb") ? new MySqlDialect() : new StandardDialect();
    }

    /** Returns whether the statements are known to work on this database. */
    static boolean isSupported(Connection connection) throws SQLException {
        return !(of(connection) instanceof StandardDialect)
                || connection.getMetaData().getDatabaseProductName().equals("H2");
    }

    /** Returns the statement that makes the table of {@link JdbcGuard}. */
    abstract String guardTable(String table);

    /** Returns the statement that makes the table of {@link JdbcOnce}. */
    abstract String onceTable(String table);

    /** Returns an expression for the time, as the columns of {@link #onceTable} have it. */
    String now() {
        return "CURRENT_TIMESTAMP";
    }

    /** Returns the type of the driver for these times. */
    Class<? extends Temporal> timeType() {
        return OffsetDateTime.class;
    }

    /**
     * Raises the row of a name to the triple of a lease, unless the row's is larger. Waits for another transaction that
     * has raised it, and keeps the row locked until this transaction ends.
     *
     * @return null if the row has the triple of the lease now, otherwise the larger one that it has
     */
    abstract GuardRow.@Nullable Found raise(Connection connection, String table, GuardRow row) throws SQLException;

    /**
     * Inserts a key that is not done. Waits for another transaction that has inserted it.
     *
     * @return false if the key was there
     */
    abstract boolean insertOnce(Connection connection, String table, OnceRow row) throws SQLException;

    /**
     * Deletes the rows whose time in this column is further back than that, and returns how many there were. On
     * PostgreSQL, MySQL and MariaDB no statement deletes more than {@value #PURGED_AT_ONCE}.
     *
     * @param key the column of the primary key
     */
    abstract int deleteOlder(Connection connection, String table, String key, String column, Duration age)
            throws SQLException;

    /**
     * Returns the next keys after this one of rows that meet a condition on the age, in the order of the keys.
     *
     * @param older has one parameter, the age in seconds
     */
    private static List<String> olderKeys(
            Connection connection, String table, String key, String older, Duration age, String after)
            throws SQLException {
        try (PreparedStatement select = connection.prepareStatement("SELECT " + key + " FROM " + table + " WHERE " + key
                + " > ? AND " + older + " ORDER BY " + key + " LIMIT " + PURGED_AT_ONCE)) {
            set(select, after, age.toSeconds());
            List<String> keys = new ArrayList<>();
            try (ResultSet rows = select.executeQuery()) {
                while (rows.next()) {
                    keys.add(rows.getString(1));
                }
            }
            return keys;
        }
    }

    /** Deletes rows by their keys, page by page. */
    static int deleteInPages(
            Connection connection, String table, String key, String older, Duration age, PageDelete delete)
            throws SQLException {
        int deleted = 0;
        List<String> page = List.of("");
        do {
            page = olderKeys(connection, table, key, older, age, page.get(page.size() - 1));
            deleted += page.isEmpty() ? 0 : delete.delete(page);
        } while (page.size() == PURGED_AT_ONCE);
        return deleted;
    }

    /** Deletes those rows of a page that are still old, and returns how many there were. */
    interface PageDelete {
        int delete(List<String> keys) throws SQLException;
    }

    /** Returns whether the driver commits an open transaction when the isolation level is set. */
    boolean commitsAtIsolationLevel() {
        return false;
    }

    /** Returns whether a statement failed because it waited too long for the lock on a row. */
    abstract boolean isLockTimeout(SQLException failure);

    /** Returns whether the database has rolled back the whole transaction when a statement failed. */
    boolean isRolledBack(SQLException failure) {
        for (Throwable each : failure) {
            if (each instanceof SQLException cause && "40001".equals(cause.getSQLState())) {
                return true;
            }
        }
        return false;
    }

    /**
     * Returns whether a statement failed because its transaction has ended: with the connection, or by an earlier
     * failure (25P02 on PostgreSQL). The locks of the transaction are free then.
     */
    static boolean hasEnded(Connection connection, SQLException failure) throws SQLException {
        if (connection.isClosed()
                || failure instanceof SQLNonTransientConnectionException
                || failure instanceof SQLRecoverableException) {
            return true;
        }
        String state = failure.getSQLState();
        return state != null && (state.startsWith("08") || state.startsWith("57P0") || ENDED.contains(state));
    }

    /** Returns whether a statement failed because its table is not there. */
    static boolean isMissingTable(SQLException failure) {
        String state = failure.getSQLState();
        return state != null && MISSING_TABLE.contains(state);
    }

    /** Names the database's setting for the longest wait for the lock on a row. */
    abstract String lockTimeoutSetting();

    /** Returns the row of a key; null if this transaction sees none. */
    static GuardRow.@Nullable Found find(Connection connection, String table, String key, String locking)
            throws SQLException {
        try (PreparedStatement select = connection.prepareStatement(
                "SELECT epoch, token, holder, used_at FROM " + table + " WHERE lock_key = ?" + locking)) {
            select.setString(1, key);
            try (ResultSet rows = select.executeQuery()) {
                return rows.next()
                        ? new GuardRow.Found(rows.getLong(1), rows.getLong(2), rows.getString(3), rows.getString(4))
                        : null;
            }
        }
    }

    /**
     * Returns the larger row because of which a statement changed none.
     *
     * @throws SQLTransactionRollbackException if there is none: another transaction has inserted the row, and the
     *     snapshot of this one is older. That says nothing about the order of the leases
     */
    static GuardRow.Found larger(Connection connection, String table, GuardRow row) throws SQLException {
        GuardRow.Found found = find(connection, table, row.key(), "");
        if (found == null || !found.isAfter(row)) {
            throw snapshotTooOld("the lock " + Keys.quoted(row.name()));
        }
        return found;
    }

    static SQLTransactionRollbackException snapshotTooOld(String what) {
        return new SQLTransactionRollbackException(
                "The snapshot of this transaction is older than the row of " + what
                        + " (expected: roll back and repeat the transaction)",
                "40001");
    }

    static void set(PreparedStatement statement, Object... values) throws SQLException {
        for (int i = 0; i < values.length; i++) {
            if (values[i] instanceof Long number) {
                statement.setLong(i + 1, number);
            } else {
                statement.setString(i + 1, (String) values[i]);
            }
        }
    }

    static int update(Connection connection, String sql, Object... values) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            set(statement, values);
            return statement.executeUpdate();
        }
    }
}
