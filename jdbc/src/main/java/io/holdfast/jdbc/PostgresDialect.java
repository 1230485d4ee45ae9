package io.holdfast.jdbc;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * PostgreSQL. Under REPEATABLE READ and SERIALIZABLE a transaction that has waited for another one fails with SQL state
 * 40001, because its snapshot is older than the other one's commit: the caller repeats it, as any transaction there.
 */
final class PostgresDialect extends Dialect {

    @Override
    String guardTable(String table) {
        return "CREATE TABLE IF NOT EXISTS " + table + " ("
                + "lock_key VARCHAR(64) COLLATE \"C\" PRIMARY KEY, epoch BIGINT NOT NULL, token BIGINT NOT NULL,"
                + " holder VARCHAR(200) COLLATE \"C\" NOT NULL, uses BIGINT NOT NULL,"
                + " used_at TIMESTAMPTZ NOT NULL, name VARCHAR(200) NOT NULL)";
    }

    @Override
    String onceTable(String table) {
        return "CREATE TABLE IF NOT EXISTS " + table + " ("
                + "once_key VARCHAR(64) COLLATE \"C\" PRIMARY KEY, fingerprint VARCHAR(64) COLLATE \"C\" NOT NULL,"
                + " attempt VARCHAR(36) NOT NULL, done SMALLINT NOT NULL, result TEXT,"
                + " created_at TIMESTAMPTZ NOT NULL, keep_until TIMESTAMPTZ NOT NULL,"
                + " name VARCHAR(200) NOT NULL)";
    }

    @Override
    GuardRow.@Nullable Found raise(Connection connection, String table, GuardRow row) throws SQLException {
        int changed = update(
                connection,
                "INSERT INTO " + table + " AS g (lock_key, epoch, token, holder, uses, used_at, name)"
                        + " VALUES (?, ?, ?, ?, 1, clock_timestamp(), ?) ON CONFLICT (lock_key) DO UPDATE"
                        + " SET epoch = excluded.epoch, token = excluded.token, holder = excluded.holder,"
                        + " uses = g.uses + 1, used_at = excluded.used_at, name = excluded.name"
                        + " WHERE (g.epoch, g.token, g.holder) <= (excluded.epoch, excluded.token, excluded.holder)",
                row.key(),
                row.epoch(),
                row.token(),
                row.holder(),
                row.name());
        return changed == 1 ? null : larger(connection, table, row);
    }

    @Override
    boolean insertOnce(Connection connection, String table, OnceRow row) throws SQLException {
        return update(
                        connection,
                        "INSERT INTO " + table + " (once_key, fingerprint, attempt, done, created_at, keep_until, name)"
                                + " VALUES (?, ?, ?, 0, clock_timestamp(), clock_timestamp() + ? * INTERVAL '1 second', ?)"
                                + " ON CONFLICT (once_key) DO NOTHING",
                        row.key(),
                        row.fingerprint(),
                        row.attempt(),
                        row.keepSeconds(),
                        row.name())
                == 1;
    }

    @Override
    int deleteOlder(Connection connection, String table, String key, String column, Duration age) throws SQLException {
        String older = column + " < clock_timestamp() - ? * INTERVAL '1 second'";
        String delete = "DELETE FROM " + table + " WHERE " + key + " = ANY (?) AND " + older;
        return deleteInPages(connection, table, key, older, age, page -> {
            try (PreparedStatement statement = connection.prepareStatement(delete)) {
                statement.setArray(1, connection.createArrayOf("varchar", page.toArray()));
                statement.setLong(2, age.toSeconds());
                return statement.executeUpdate();
            }
        });
    }

    @Override
    boolean isLockTimeout(SQLException failure) {
        return "55P03".equals(failure.getSQLState());
    }

    @Override
    String lockTimeoutSetting() {
        return "lock_timeout";
    }
}
