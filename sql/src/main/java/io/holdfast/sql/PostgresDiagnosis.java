package io.holdfast.sql;

import io.holdfast.spi.Finding;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.UUID;

/** What only PostgreSQL is asked. */
final class PostgresDiagnosis {

    private static final int HEARD_MILLIS = 2_000;

    private final SqlDiagnosis diagnosis;
    private final Link link;
    private final List<Finding> findings;

    PostgresDiagnosis(SqlDiagnosis diagnosis, Link link, List<Finding> findings) {
        this.diagnosis = diagnosis;
        this.link = link;
        this.findings = findings;
    }

    /** What the server says of its commits and standbys. */
    record Durability(String fsync, String synchronous, String names, long standbys) {

        static Durability read(ResultSet row) throws SQLException {
            return new Durability(row.getString(1), row.getString(2), row.getString(3), row.getLong(4));
        }

        Finding commits() {
            String text = "fsync is " + fsync + ", synchronous_commit is " + synchronous;
            return fsync.equals("on")
                    ? Finding.ok("commits", text)
                    : Finding.warning(
                            "commits",
                            text + ", so a crash of the machine may forget locks that were taken",
                            "set fsync = on");
        }

        Finding replicas() {
            String text = standbys + (standbys == 1 ? " standby" : " standbys") + ", synchronous_standby_names is "
                    + (names.isEmpty() ? "empty" : "\"" + names + "\"");
            if (standbys == 0 && names.isEmpty()) {
                return Finding.ok("standbys", "none");
            }
            if (standbys == 0) {
                return Finding.warning(
                        "standbys",
                        text + ", so a commit waits until one is back",
                        "start the standby, or name one that is there");
            }
            if (names.isEmpty() || synchronous.equals("local")) {
                return Finding.warning(
                        "standbys",
                        text + ", so a failover may forget locks that were taken, and two clients may hold one name",
                        "name one in synchronous_standby_names, with synchronous_commit = on for this user");
            }
            return Finding.ok("standbys", text);
        }
    }

    void examine(boolean pooled, boolean notifies) {
        diagnosis.ask(findings, "table", this::table);
        diagnosis.ask(findings, "isolation", () -> {
            String level = setting("transaction_isolation");
            findings.add(
                    level.equals("read committed")
                            ? Finding.ok("isolation", "READ COMMITTED")
                            : Finding.error(
                                    "isolation",
                                    "transactions are " + level + ", so commands fail when clients meet",
                                    "run as the owner: ALTER ROLE … SET default_transaction_isolation = 'read"
                                            + " committed', for the user of the URL"));
        });
        diagnosis.ask(findings, "commits", () -> {
            Durability durability = link.first(
                    "SELECT current_setting('fsync'), current_setting('synchronous_commit'),"
                            + " current_setting('synchronous_standby_names'),"
                            + " (SELECT count(*) FROM pg_stat_replication)",
                    Durability::read);
            if (durability != null) {
                findings.add(durability.commits());
                findings.add(durability.replicas());
            }
        });
        diagnosis.ask(findings, "timeouts", this::timeouts);
        diagnosis.ask(findings, "connections", this::connections);
        diagnosis.ask(
                findings,
                "clock",
                () -> diagnosis.clock(link, LockTable.standardMicros("clock_timestamp()"), findings));
        if (pooled) {
            findings.add(Finding.warning(
                    "pooler",
                    "a pooler is between this client and the database, so waiters look at the rows and hear no NOTIFY",
                    "connect to the database itself; a client needs two connections"));
        } else if (notifies) {
            diagnosis.ask(findings, "notify", this::notified);
        } else {
            findings.add(Finding.ok("notify", "switched off by notify=false: waiters look at the rows"));
        }
    }

    private String setting(String name) throws SQLException {
        String value = link.first("SELECT current_setting(?)", row -> row.getString(1), name);
        return value == null ? "" : value;
    }

    private void table() throws SQLException {
        String where = link.first(
                "SELECT n.nspname || '.' || c.relname || CASE c.relpersistence WHEN 'u' THEN ' UNLOGGED' ELSE '' END"
                        + " FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace"
                        + " WHERE c.oid = 'holdfast_lock'::regclass",
                row -> row.getString(1));
        findings.add(
                where == null || !where.endsWith(" UNLOGGED")
                        ? Finding.ok("table", String.valueOf(where))
                        : Finding.error(
                                "table",
                                where.replace(" UNLOGGED", "") + " is unlogged, so a crash of the server empties it and"
                                        + " two clients may hold one name",
                                "run as the owner: ALTER TABLE holdfast_lock SET LOGGED"));
    }

    private void timeouts() throws SQLException {
        String lock = setting("lock_timeout");
        String statement = setting("statement_timeout");
        String text = "lock_timeout is " + lock + ", statement_timeout is " + statement;
        findings.add(
                lock.equals("0") || statement.equals("0")
                        ? Finding.warning(
                                "timeouts",
                                text + "; with 0, a row that somebody has locked holds up all commands of this client",
                                "run as the owner: ALTER ROLE … SET lock_timeout = '1s', and SET statement_timeout ="
                                        + " '2s', for the user of the URL")
                        : Finding.ok("timeouts", text));
        if (setting("idle_in_transaction_session_timeout").equals("0")) {
            findings.add(new Finding(
                    Finding.Severity.OK,
                    "timeouts",
                    "idle_in_transaction_session_timeout is 0: a transaction that is left open under a guard keeps its"
                            + " name busy until its connection ends",
                    "set it for the application's role if you use a guard"));
        }
    }

    private void connections() throws SQLException {
        long used = number("SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend'");
        long most = number("SELECT current_setting('max_connections')::BIGINT");
        findings.add(SqlDiagnosis.connections(used, most));
    }

    private long number(String sql) throws SQLException {
        Long value = link.first(sql, row -> row.getLong(1));
        return value == null ? 0 : value;
    }

    /** Sends a message from one connection to another: a pooler, and some proxies, swallow it. */
    private void notified() throws SQLException {
        String channel = "hf-doctor-" + UUID.randomUUID();
        Link listening = diagnosis.another();
        if (listening == null) {
            findings.add(Finding.warning(
                    "notify", "the database refuses a second connection, by which messages arrive", "allow it"));
            return;
        }
        try (listening;
                Statement statement = listening.connection().createStatement()) {
            statement.execute("LISTEN \"" + channel + "\"");
            link.query("SELECT pg_notify(?, 'heard')", row -> true, channel);
            boolean heard = PostgresPooler.hears(listening.connection(), HEARD_MILLIS);
            findings.add(
                    heard
                            ? Finding.ok("notify", "a NOTIFY is heard")
                            : Finding.warning(
                                    "notify",
                                    "a NOTIFY was not heard within " + HEARD_MILLIS
                                            + " ms, so a hand-off takes up to a second",
                                    "connect to the database itself, not by a proxy"));
        }
    }
}
