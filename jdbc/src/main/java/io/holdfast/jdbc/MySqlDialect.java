package io.holdfast.jdbc;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.LocalDateTime;
import java.time.temporal.Temporal;
import org.jspecify.annotations.Nullable;

/**
 * MySQL and MariaDB with InnoDB. The count of affected rows cannot tell whether a row was raised: it depends on a
 * setting of the driver. So a locking read follows, which under every isolation level returns the newest values.
 *
 * <p>Neither statement makes the snapshot of a REPEATABLE READ transaction: the first plain read after the guard does.
 */
final class MySqlDialect extends Dialect {

    private static final int LOCK_WAIT_TIMEOUT = 1205;

    private static final int DEADLOCK = 1213;

    @Override
    String guardTable(String table) {
        return "CREATE TABLE IF NOT EXISTS " + table + " ("
                + "lock_key VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL PRIMARY KEY,"
                + " epoch BIGINT NOT NULL, token BIGINT NOT NULL,"
                + " holder VARCHAR(200) CHARACTER SET ascii COLLATE ascii_bin NOT NULL, uses BIGINT NOT NULL,"
                + " used_at DATETIME(3) NOT NULL, name VARCHAR(200) CHARACTER SET utf8mb4 NOT NULL) ENGINE = InnoDB";
    }

    @Override
    String onceTable(String table) {
        return "CREATE TABLE IF NOT EXISTS " + table + " ("
                + "once_key VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL PRIMARY KEY,"
                + " fingerprint VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,"
                + " attempt VARCHAR(36) CHARACTER SET ascii COLLATE ascii_bin NOT NULL, done SMALLINT NOT NULL,"
                + " result LONGTEXT CHARACTER SET utf8mb4, created_at DATETIME(3) NOT NULL,"
                + " keep_until DATETIME(3) NOT NULL, name VARCHAR(200) CHARACTER SET utf8mb4 NOT NULL) ENGINE = InnoDB";
    }

    @Override
    String now() {
        return "UTC_TIMESTAMP(3)";
    }

    @Override
    Class<? extends Temporal> timeType() {
        return LocalDateTime.class;
    }

    /**
     * The server assigns from left to right, and an assignment sees those before it: the holder is decided first and
     * the epoch last. {@code uses} changes in any case, so that the row is written and a replicated cluster notices the
     * conflict of two transactions.
     */
    @Override
    GuardRow.@Nullable Found raise(Connection connection, String table, GuardRow row) throws SQLException {
        update(
                connection,
                "INSERT INTO " + table + " (lock_key, epoch, token, holder, uses, used_at, name)"
                        + " VALUES (?, ?, ?, ?, 1, UTC_TIMESTAMP(3), ?) ON DUPLICATE KEY UPDATE uses = uses + 1,"
                        + " used_at = UTC_TIMESTAMP(3),"
                        + " holder = IF(epoch < ? OR (epoch = ? AND (token < ? OR (token = ? AND holder < ?))), ?, holder),"
                        + " token = IF(epoch < ?, ?, IF(epoch = ?, GREATEST(token, ?), token)),"
                        + " epoch = GREATEST(epoch, ?)",
                row.key(),
                row.epoch(),
                row.token(),
                row.holder(),
                row.name(),
                // holder
                row.epoch(),
                row.epoch(),
                row.token(),
                row.token(),
                row.holder(),
                row.holder(),
                // token
                row.epoch(),
                row.token(),
                row.epoch(),
                row.token(),
                // epoch
                row.epoch());
        GuardRow.Found found = find(connection, table, row.key(), LOCKING);
        if (found == null) {
            throw new SQLException("The row that was written for the lock " + Keys.quoted(row.name())
                    + " is not in the table " + table + " (expected: no trigger or view that removes it)");
        }
        return found.isOf(row) ? null : found;
    }

    @Override
    boolean insertOnce(Connection connection, String table, OnceRow row) throws SQLException {
        update(
                connection,
                "INSERT INTO " + table + " (once_key, fingerprint, attempt, done, created_at, keep_until, name)"
                        + " VALUES (?, ?, ?, 0, UTC_TIMESTAMP(3), UTC_TIMESTAMP(3) + INTERVAL ? SECOND, ?)"
                        + " ON DUPLICATE KEY UPDATE attempt = attempt",
                row.key(),
                row.fingerprint(),
                row.attempt(),
                row.keepSeconds(),
                row.name());
        try (PreparedStatement select =
                connection.prepareStatement("SELECT attempt FROM " + table + " WHERE once_key = ? FOR UPDATE")) {
            select.setString(1, row.key());
            try (ResultSet rows = select.executeQuery()) {
                return rows.next() && row.attempt().equals(rows.getString(1));
            }
        }
    }

    /**
     * One statement for all rows would lock each row and gap that it passes, and wait for the first open transaction
     * under a lock, while all others wait for it. A list of keys may be searched in the same way. The age is compared
     * again at the delete: without a row that was raised meanwhile, an old token would be accepted.
     */
    @Override
    int deleteOlder(Connection connection, String table, String key, String column, Duration age) throws SQLException {
        String older = column + " < UTC_TIMESTAMP(3) - INTERVAL ? SECOND";
        String delete = "DELETE FROM " + table + " WHERE " + key + " = ? AND " + older;
        return deleteInPages(connection, table, key, older, age, page -> {
            int deleted = 0;
            for (String each : page) {
                deleted += update(connection, delete, each, age.toSeconds());
            }
            return deleted;
        });
    }

    @Override
    boolean isLockTimeout(SQLException failure) {
        return failure.getErrorCode() == LOCK_WAIT_TIMEOUT;
    }

    /** A wait that was too long ends one statement, although drivers give it the SQL state of a deadlock. */
    @Override
    boolean isRolledBack(SQLException failure) {
        return !isLockTimeout(failure) && (failure.getErrorCode() == DEADLOCK || super.isRolledBack(failure));
    }

    @Override
    String lockTimeoutSetting() {
        return "innodb_lock_wait_timeout";
    }
}
