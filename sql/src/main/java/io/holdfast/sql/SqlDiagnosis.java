package io.holdfast.sql;

import io.holdfast.spi.Finding;
import io.holdfast.spi.StoreException;
import io.holdfast.spi.TimeSource;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/** Examines a database for a person. It asks each question by itself, and a refused question is a finding. */
final class SqlDiagnosis {

    private static final Duration CLOCK_DIFFERENCE_MAX = Duration.ofSeconds(1);

    /** Of all connections that the server allows. */
    private static final double MANY = 0.8;

    interface Question {
        void ask() throws SQLException;
    }

    private final SqlSettings settings;
    private final Workers.Connector connector;
    private final BooleanSupplier pooled;
    private final TimeSource time;

    /** @param pooled whether a pooler was seen between this client and the database */
    SqlDiagnosis(SqlSettings settings, Workers.Connector connector, BooleanSupplier pooled, TimeSource time) {
        this.settings = settings;
        this.connector = connector;
        this.pooled = pooled;
        this.time = time;
    }

    /** Returns all findings, with the row of the lock of this key. */
    List<Finding> of(Link link, String key) {
        List<Finding> findings = new ArrayList<>();
        ask(findings, "version", () -> {
            var server = link.connection().getMetaData();
            findings.add(Finding.ok(
                    "version",
                    server.getDatabaseProductName() + " " + server.getDatabaseProductVersion() + ", driver "
                            + server.getDriverVersion()));
        });
        ask(findings, "rights", () -> {
            SqlSchema.probe(link);
            findings.add(
                    Finding.ok("rights", "both tables are there, and this user may read, insert, update and delete"));
        });
        if (settings.kind() == SqlSettings.Kind.POSTGRESQL) {
            new PostgresDiagnosis(this, link, findings).examine(pooled.getAsBoolean(), settings.notifies());
        } else if (settings.kind().isMySql()) {
            new MySqlDiagnosis(this, link, findings).examine();
        } else {
            examineH2(link, findings);
        }
        ask(findings, "row", () -> {
            Long base = link.first(
                    "SELECT base FROM holdfast_lock WHERE lock_key = ? ORDER BY base DESC", row -> row.getLong(1), key);
            findings.add(Finding.ok(
                    "row",
                    base == null
                            ? "holdfast_lock has none for this lock"
                            : "holdfast_lock, lock_key " + key + ", base " + base));
        });
        return findings;
    }

    private void examineH2(Link link, List<Finding> findings) {
        boolean inMemory = settings.url().startsWith("jdbc:h2:mem:");
        boolean shared = inMemory
                || settings.url().startsWith("jdbc:h2:tcp:")
                || settings.url().startsWith("jdbc:h2:ssl:")
                || settings.url().toUpperCase(Locale.ROOT).contains("AUTO_SERVER=TRUE");
        if (inMemory) {
            findings.add(Finding.warning(
                    "storage",
                    "the database is in the memory of this process, so no other process sees its locks",
                    "use a file for the processes of one machine: jdbc:h2:file:/path/locks;AUTO_SERVER=TRUE"));
        } else if (shared) {
            findings.add(Finding.ok("storage", "other processes share the database"));
        } else {
            findings.add(Finding.warning(
                    "storage",
                    "the file is open for this process alone, so no other process can use its locks",
                    "add AUTO_SERVER=TRUE to the URL"));
        }
        ask(findings, "commits", () -> {
            String delay = link.first(
                    "SELECT SETTING_VALUE FROM INFORMATION_SCHEMA.SETTINGS WHERE SETTING_NAME = 'WRITE_DELAY'",
                    row -> row.getString(1));
            findings.add(
                    "0".equals(delay)
                            ? Finding.ok("commits", "WRITE_DELAY is 0: a commit is in the file before its answer")
                            : Finding.error(
                                    "commits",
                                    "WRITE_DELAY is " + delay + ", so a crash forgets locks that were taken",
                                    "run as the owner: SET WRITE_DELAY 0"));
        });
        ask(findings, "clock", () -> clock(link, LockTable.standardMicros("CURRENT_TIMESTAMP(6)"), findings));
    }

    /** @param micros an expression for the microseconds since 1970 */
    void clock(Link link, String micros, List<Finding> findings) throws SQLException {
        long sent = time.wallMillis();
        Long said = link.first("SELECT " + micros, row -> row.getLong(1));
        long half = sent + (time.wallMillis() - sent) / 2;
        findings.add(clock(Duration.between(
                Instant.ofEpochMilli(half), Instant.EPOCH.plus(said == null ? 0 : said, ChronoUnit.MICROS))));
    }

    /** @param difference of the database's clock to ours; negative if the database's is behind */
    static Finding clock(Duration difference) {
        String text = "the database's clock is " + difference.abs().toMillis() + " ms "
                + (difference.isNegative() ? "behind" : "ahead of") + " this machine's";
        return difference.abs().compareTo(CLOCK_DIFFERENCE_MAX) <= 0
                ? Finding.ok("clock", text)
                : Finding.warning(
                        "clock",
                        text + "; leases do not depend on that, but fencing tokens grow by the database's clock",
                        "synchronize both clocks");
    }

    static Finding connections(long used, long most) {
        String text = used + " of " + most + " connections are used";
        return used < MANY * most
                ? Finding.ok("connections", text)
                : Finding.warning(
                        "connections",
                        text + ", and each client of the locks needs two to five",
                        "raise max_connections, or let other applications use a pooler");
    }

    void ask(List<Finding> findings, String subject, Question question) {
        try {
            question.ask();
        } catch (SQLException e) {
            String said = String.valueOf(e.getMessage()).replaceAll("\\s+", " ").strip();
            findings.add(Finding.warning(
                    subject,
                    "the database does not answer: " + settings.hidden(said),
                    "ask the owner of the database"));
        }
    }

    /** Returns a second connection; null if there is none. */
    @Nullable
    Link another() {
        try {
            return connector.connect();
        } catch (StoreException e) {
            return null;
        }
    }
}
