package io.holdfast.sql;

import static java.util.stream.Collectors.toMap;

import io.holdfast.spi.Finding;
import java.sql.SQLException;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** What only MySQL and MariaDB are asked. */
final class MySqlDiagnosis {

    /** A replica that confirms nothing for so long is given up by many settings: later than that is never. */
    private static final long NEVER_MILLIS = 3_600_000;

    private final SqlDiagnosis diagnosis;
    private final Link link;
    private final List<Finding> findings;

    MySqlDiagnosis(SqlDiagnosis diagnosis, Link link, List<Finding> findings) {
        this.diagnosis = diagnosis;
        this.link = link;
        this.findings = findings;
    }

    void examine() {
        diagnosis.ask(findings, "table", () -> {
            String engine = link.first(
                    "SELECT engine FROM information_schema.tables WHERE table_schema = DATABASE() AND table_name ="
                            + " 'holdfast_lock'",
                    row -> row.getString(1));
            findings.add(table(String.valueOf(engine)));
        });
        diagnosis.ask(findings, "isolation", () -> {
            Map<String, String> session =
                    pairs("SHOW SESSION VARIABLES WHERE Variable_name IN ('transaction_isolation', 'tx_isolation',"
                            + " 'lock_wait_timeout', 'innodb_lock_wait_timeout')");
            findings.add(isolation(
                    session.getOrDefault("transaction_isolation", session.getOrDefault("tx_isolation", "unknown"))));
            findings.add(Finding.ok(
                    "timeouts",
                    "innodb_lock_wait_timeout is " + session.get("innodb_lock_wait_timeout")
                            + " s, lock_wait_timeout is " + session.get("lock_wait_timeout") + " s"));
        });
        diagnosis.ask(findings, "commits", () -> {
            Map<String, String> variables =
                    pairs("SHOW GLOBAL VARIABLES WHERE Variable_name IN ('innodb_flush_log_at_trx_commit', 'log_bin',"
                            + " 'max_connections', 'group_replication_group_name') OR Variable_name LIKE"
                            + " 'rpl_semi_sync_%'");
            Map<String, String> status =
                    pairs("SHOW GLOBAL STATUS WHERE Variable_name = 'Threads_connected' OR Variable_name LIKE"
                            + " 'rpl_semi_sync_%'");
            Long replicas = link.first(
                    "SELECT COUNT(*) FROM information_schema.processlist WHERE command LIKE 'Binlog Dump%'",
                    row -> row.getLong(1));
            findings.add(commits(variables));
            findings.add(replicas(variables, status, replicas == null ? 0 : replicas));
            findings.add(SqlDiagnosis.connections(
                    number(status, "threads_connected"), number(variables, "max_connections")));
        });
        diagnosis.ask(
                findings, "clock", () -> diagnosis.clock(link, MySqlTable.microsOf("UTC_TIMESTAMP(6)"), findings));
        findings.add(Finding.ok("notify", "this database sends no messages: waiters look at the rows"));
    }

    static Finding table(String engine) {
        return engine.equalsIgnoreCase("InnoDB")
                ? Finding.ok("table", "holdfast_lock is in InnoDB")
                : Finding.error(
                        "table",
                        "holdfast_lock is in " + engine + ", which has no transactions, so a crash may empty it and two"
                                + " clients may hold one name",
                        "run as the owner: ALTER TABLE holdfast_lock ENGINE = InnoDB");
    }

    static Finding isolation(String level) {
        return level.equals("READ-COMMITTED")
                ? Finding.ok("isolation", "READ COMMITTED")
                : Finding.error(
                        "isolation",
                        "transactions are " + level + ", although the store has set READ COMMITTED",
                        "connect to the database itself, not by a proxy");
    }

    static Finding commits(Map<String, String> variables) {
        String flush = variables.getOrDefault("innodb_flush_log_at_trx_commit", "unknown");
        String text = "innodb_flush_log_at_trx_commit is " + flush;
        return flush.equals("1")
                ? Finding.ok("commits", text)
                : Finding.warning(
                        "commits",
                        text + ", so a crash of the machine may forget locks that were taken",
                        "run as an administrator: SET GLOBAL innodb_flush_log_at_trx_commit = 1, and set it in the"
                                + " server's configuration");
    }

    /** @param seen how many replicas this user sees, which needs the right PROCESS */
    static Finding replicas(Map<String, String> variables, Map<String, String> status, long seen) {
        if (!variables.getOrDefault("group_replication_group_name", "").isEmpty()) {
            return Finding.ok("standbys", "Group Replication with one primary");
        }
        if (variables.getOrDefault("rpl_semi_sync_source_enabled", "OFF").equals("ON")) {
            return semiSynchronous(variables, status);
        }
        if (seen == 0) {
            return Finding.ok(
                    "standbys",
                    variables.getOrDefault("log_bin", "OFF").equals("ON")
                            ? "none is seen by this user; one would follow asynchronously"
                            : "none");
        }
        return Finding.warning(
                "standbys",
                "replicas follow asynchronously, so a failover may forget locks that were taken, and two clients may"
                        + " hold one name",
                "use semi-synchronous replication with AFTER_SYNC and a timeout that never falls back");
    }

    private static Finding semiSynchronous(Map<String, String> variables, Map<String, String> status) {
        String point = variables.getOrDefault("rpl_semi_sync_source_wait_point", "unknown");
        long timeout = number(variables, "rpl_semi_sync_source_timeout");
        boolean works =
                status.getOrDefault("rpl_semi_sync_source_status", "OFF").equals("ON");
        String text = "replication is semi-synchronous, waits for " + timeout + " ms at " + point
                + (works ? "" : ", and has fallen back to asynchronous");
        return works && point.equals("AFTER_SYNC") && timeout >= NEVER_MILLIS
                ? Finding.ok("standbys", text)
                : Finding.warning(
                        "standbys",
                        text + ", so a failover may forget locks that were taken, and two clients may hold one name",
                        "set rpl_semi_sync_…_wait_point = AFTER_SYNC and rpl_semi_sync_…_timeout = 4294967295");
    }

    private static long number(Map<String, String> values, String name) {
        return Long.parseLong(values.getOrDefault(name, "0"));
    }

    /** MariaDB, and MySQL before 8.0.26, call the source of a replication the master. */
    private Map<String, String> pairs(String question) throws SQLException {
        record Pair(String name, String value) {}
        return link
                .query(
                        question,
                        row -> new Pair(
                                row.getString(1).toLowerCase(Locale.ROOT).replace("_master_", "_source_"),
                                row.getString(2)))
                .stream()
                .collect(toMap(Pair::name, Pair::value, (one, other) -> one));
    }
}
