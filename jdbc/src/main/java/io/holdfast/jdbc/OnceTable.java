package io.holdfast.jdbc;

import io.holdfast.spi.DurationText;
import io.holdfast.spi.Finding;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.ResultSetMetaData;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.temporal.Temporal;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** The table of {@link JdbcOnce}, as a database has it. */
record OnceTable(String name, Dialect dialect) {

    private static final String SUBJECT = "once";

    private static final List<String> COLUMNS =
            List.of("once_key", "fingerprint", "attempt", "done", "result", "created_at", "keep_until", "name");

    /** Keys that are past their time for longer than this are not purged by anybody. */
    private static final Duration PURGED_WITHIN = Duration.ofDays(1);

    /** @throws IllegalStateException if the table or a column is not there */
    void require(Connection connection) throws SQLException {
        List<String> missing = new ArrayList<>(COLUMNS);
        try (Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery("SELECT * FROM " + name + " WHERE once_key = ''")) {
            ResultSetMetaData columns = rows.getMetaData();
            for (int i = 1; i <= columns.getColumnCount(); i++) {
                missing.remove(columns.getColumnName(i).toLowerCase(Locale.ROOT));
            }
        } catch (SQLException e) {
            if (!Dialect.isMissingTable(e)) {
                throw e;
            }
            throw new IllegalStateException(missing(), e);
        }
        if (!missing.isEmpty()) {
            throw new IllegalStateException("The table " + name + " has no column " + String.join(", ", missing)
                    + " (expected: the columns of this statement: " + dialect.onceTable(name) + ")");
        }
    }

    /** Says that the table is not there. */
    String missing() {
        return "There is no table " + name + " (expected: made by this statement: " + dialect.onceTable(name) + ")";
    }

    List<Finding> diagnose(Connection connection) throws SQLException {
        try {
            require(connection);
        } catch (IllegalStateException e) {
            return List.of(Finding.error(SUBJECT, String.valueOf(e.getMessage()), "make it in a migration"));
        }
        String now = dialect.now();
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery("SELECT COUNT(*), COALESCE(SUM(CASE WHEN keep_until < " + now
                        + " THEN 1 ELSE 0 END), 0), MIN(keep_until), " + now + " FROM " + name)) {
            row.next();
            Temporal oldest = row.getObject(3, dialect.timeType());
            return List.of(state(
                    row.getLong(1),
                    row.getLong(2),
                    oldest == null ? Duration.ZERO : Duration.between(oldest, row.getObject(4, dialect.timeType()))));
        }
    }

    /** @param over for how long the key with the shortest time is past it */
    private Finding state(long keys, long past, Duration over) {
        String text = name + " has " + keys + (keys == 1 ? " key" : " keys") + ", " + past + " past the time to keep";
        return over.compareTo(PURGED_WITHIN) <= 0
                ? Finding.ok(SUBJECT, text)
                : Finding.warning(
                        SUBJECT,
                        text + ", one of them for " + DurationText.rounded(over) + ", so nobody purges them",
                        "OncePurge.start; in Spring and Jakarta CDI, holdfast.idempotent.purge-every=1h");
    }
}
