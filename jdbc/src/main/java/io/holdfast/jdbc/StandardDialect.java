package io.holdfast.jdbc;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.OffsetDateTime;
import org.jspecify.annotations.Nullable;

/**
 * H2, and other databases in which a statement that fails leaves its transaction usable: only statements that the SQL
 * standard has. Verified on H2.
 */
final class StandardDialect extends Dialect {

    /** The class of SQL states for a violated constraint: the key is there. */
    private static final String CONSTRAINT = "23";

    private static final String LOCK_TIMEOUT = "HYT00";

    @Override
    String guardTable(String table) {
        return "CREATE TABLE IF NOT EXISTS " + table + " ("
                + "lock_key VARCHAR(64) NOT NULL PRIMARY KEY, epoch BIGINT NOT NULL, token BIGINT NOT NULL,"
                + " holder VARCHAR(200) NOT NULL, uses BIGINT NOT NULL,"
                + " used_at TIMESTAMP WITH TIME ZONE NOT NULL, name VARCHAR(200) NOT NULL)";
    }

    @Override
    String onceTable(String table) {
        return "CREATE TABLE IF NOT EXISTS " + table + " ("
                + "once_key VARCHAR(64) NOT NULL PRIMARY KEY, fingerprint VARCHAR(64) NOT NULL,"
                + " attempt VARCHAR(36) NOT NULL, done SMALLINT NOT NULL, result CLOB,"
                + " created_at TIMESTAMP WITH TIME ZONE NOT NULL,"
                + " keep_until TIMESTAMP WITH TIME ZONE NOT NULL, name VARCHAR(200) NOT NULL)";
    }

    @Override
    GuardRow.@Nullable Found raise(Connection connection, String table, GuardRow row) throws SQLException {
        if (update(connection, table, row) || insert(connection, table, row) || update(connection, table, row)) {
            return null;
        }
        return larger(connection, table, row);
    }

    private static boolean update(Connection connection, String table, GuardRow row) throws SQLException {
        return update(
                        connection,
                        "UPDATE " + table + " SET epoch = ?, token = ?, holder = ?, uses = uses + 1,"
                                + " used_at = CURRENT_TIMESTAMP, name = ? WHERE lock_key = ? AND (epoch < ?"
                                + " OR (epoch = ? AND (token < ? OR (token = ? AND holder <= ?))))",
                        row.epoch(),
                        row.token(),
                        row.holder(),
                        row.name(),
                        row.key(),
                        row.epoch(),
                        row.epoch(),
                        row.token(),
                        row.token(),
                        row.holder())
                == 1;
    }

    /** Returns false if the row is there: it is larger, or another transaction has inserted it since the update. */
    private static boolean insert(Connection connection, String table, GuardRow row) throws SQLException {
        try {
            update(
                    connection,
                    "INSERT INTO " + table + " (lock_key, epoch, token, holder, uses, used_at, name)"
                            + " VALUES (?, ?, ?, ?, 1, CURRENT_TIMESTAMP, ?)",
                    row.key(),
                    row.epoch(),
                    row.token(),
                    row.holder(),
                    row.name());
            return true;
        } catch (SQLException e) {
            return throwUnlessDuplicate(e);
        }
    }

    @Override
    boolean insertOnce(Connection connection, String table, OnceRow row) throws SQLException {
        try {
            update(
                    connection,
                    "INSERT INTO " + table + " (once_key, fingerprint, attempt, done, created_at, keep_until, name)"
                            + " VALUES (?, ?, ?, 0, CURRENT_TIMESTAMP,"
                            + " CURRENT_TIMESTAMP + CAST(? AS BIGINT) * INTERVAL '1' SECOND, ?)",
                    row.key(),
                    row.fingerprint(),
                    row.attempt(),
                    row.keepSeconds(),
                    row.name());
            return true;
        } catch (SQLException e) {
            return throwUnlessDuplicate(e);
        }
    }

    private static boolean throwUnlessDuplicate(SQLException e) throws SQLException {
        if (e.getSQLState() == null || !e.getSQLState().startsWith(CONSTRAINT)) {
            throw e;
        }
        return false;
    }

    /** The database's clock is read from the table itself: no two databases name a table of one row alike. */
    @Override
    int deleteOlder(Connection connection, String table, String key, String column, Duration age) throws SQLException {
        OffsetDateTime now;
        try (PreparedStatement select = connection.prepareStatement("SELECT DISTINCT CURRENT_TIMESTAMP FROM " + table);
                ResultSet rows = select.executeQuery()) {
            if (!rows.next()) {
                return 0;
            }
            now = rows.getObject(1, OffsetDateTime.class);
        }
        try (PreparedStatement delete =
                connection.prepareStatement("DELETE FROM " + table + " WHERE " + column + " < ?")) {
            delete.setObject(1, now.minus(age));
            return delete.executeUpdate();
        }
    }

    /** H2 does, and JDBC leaves it to the driver. */
    @Override
    boolean commitsAtIsolationLevel() {
        return true;
    }

    @Override
    boolean isLockTimeout(SQLException failure) {
        return LOCK_TIMEOUT.equals(failure.getSQLState());
    }

    @Override
    String lockTimeoutSetting() {
        return "LOCK_TIMEOUT";
    }
}
