package io.holdfast.sql;

import static java.util.stream.Collectors.toMap;

import io.holdfast.spi.StoreException.Outcome;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * What is asked of MySQL or MariaDB on a new connection, and what is set for its session. The session is ours alone:
 * a proxy for these databases keeps the settings of its clients apart.
 */
final class MySqlServer {

    private static final Pattern NUMBER = Pattern.compile("(\\d+)\\.(\\d+)");

    /** Speak the protocol and are something else. */
    private static final List<String> OTHERS = List.of("tidb", "vitess", "oceanbase", "singlestore", "memsql");

    private record Version(int major, int minor, boolean mariaDb) {

        static Version of(Map<String, String> variables) {
            String said = variables.getOrDefault("version", "");
            Matcher number = NUMBER.matcher(said);
            boolean found = number.find();
            String all = (said + variables.get("version_comment")).toLowerCase(Locale.ROOT);
            return new Version(
                    found ? Integer.parseInt(number.group(1)) : 0,
                    found ? Integer.parseInt(number.group(2)) : 0,
                    all.contains("mariadb"));
        }

        /** Older ones cannot pass by locked rows. */
        boolean isOld() {
            return mariaDb ? major < 10 || (major == 10 && minor < 6) : major < 8;
        }

        @Override
        public String toString() {
            return (mariaDb ? "MariaDB " : "MySQL ") + major + "." + minor;
        }
    }

    private MySqlServer() {}

    /**
     * Refuses a server that cannot keep locks, and sets the session.
     *
     * @return what an operator should know of the server; null if nothing
     */
    static @Nullable String check(Link link, SqlErrors errors) throws SQLException {
        Map<String, String> variables = variables(link);
        refuse(variables, errors);
        prepare(link, Version.of(variables));
        link.isSession("SELECT CONCAT_WS(':', @@hostname, @@port, @@server_id, CONNECTION_ID())");
        MySqlTable.readClock(link);
        return notice(variables);
    }

    static @Nullable String notice(Map<String, String> variables) {
        String flush = variables.getOrDefault("innodb_flush_log_at_trx_commit", "1");
        return flush.equals("1")
                ? null
                : "has innodb_flush_log_at_trx_commit=" + flush
                        + ": a crash of the machine forgets locks that were taken in the last second, and then two"
                        + " clients can hold one name (expected: 1)";
    }

    private static Map<String, String> variables(Link link) throws SQLException {
        record Variable(String name, String value) {}
        return link
                .query(
                        "SHOW GLOBAL VARIABLES WHERE Variable_name IN ('version', 'version_comment', 'read_only',"
                                + " 'innodb_read_only', 'wsrep_on', 'wsrep_provider',"
                                + " 'group_replication_group_name', 'group_replication_single_primary_mode',"
                                + " 'innodb_flush_log_at_trx_commit', 'log_bin', 'binlog_format')",
                        row -> new Variable(row.getString(1).toLowerCase(Locale.ROOT), row.getString(2)))
                .stream()
                .collect(toMap(Variable::name, Variable::value));
    }

    /** @throws io.holdfast.spi.StoreException if a server with these variables cannot keep locks */
    static void refuse(Map<String, String> variables, SqlErrors errors) {
        Version version = Version.of(variables);
        String said = (variables.get("version") + " " + variables.get("version_comment")).toLowerCase(Locale.ROOT);
        for (String other : OTHERS) {
            if (said.contains(other)) {
                throw errors.exception(
                        Outcome.FATAL,
                        "is no MySQL but " + other + ", whose isolation was never tested with these statements"
                                + " (expected: MySQL 8, MariaDB 10.6 or newer)",
                        null);
            }
        }
        if (version.isOld()) {
            throw errors.exception(
                    Outcome.FATAL, "is " + version + " (expected: MySQL 8, MariaDB 10.6 or newer)", null);
        }
        if (hasSeveralPrimaries(variables)) {
            throw errors.exception(
                    Outcome.FATAL,
                    "is a cluster with several primaries (Galera or Group Replication), which finds at the commit that"
                            + " two clients took one lock and has several clocks (expected: one primary)",
                    null);
        }
        if (isOn(variables, "read_only") || isOn(variables, "innodb_read_only")) {
            throw errors.exception(
                    Outcome.NOT_EXECUTED,
                    "is read-only, as a replica is, and keeps no locks (expected: the primary, and SET GLOBAL read_only = OFF"
                            + " there)",
                    null);
        }
        if (isOn(variables, "log_bin") && "STATEMENT".equals(variables.get("binlog_format"))) {
            throw errors.exception(
                    Outcome.FATAL,
                    "has binlog_format=STATEMENT, which refuses to write in READ COMMITTED (expected: ROW or MIXED)",
                    null);
        }
    }

    private static boolean hasSeveralPrimaries(Map<String, String> variables) {
        boolean galera = isOn(variables, "wsrep_on")
                && !variables.getOrDefault("wsrep_provider", "none").equals("none");
        boolean group =
                !variables.getOrDefault("group_replication_group_name", "").isEmpty()
                        && "OFF".equals(variables.get("group_replication_single_primary_mode"));
        return galera || group;
    }

    private static boolean isOn(Map<String, String> variables, String name) {
        return "ON".equals(variables.get(name));
    }

    /**
     * No statement waits for a row longer than a second, or for a change of the table for a day; no text is cut without an
     * error; and no transaction of a stopped client keeps a row locked.
     */
    private static void prepare(Link link, Version version) throws SQLException {
        link.connection().setTransactionIsolation(Connection.TRANSACTION_READ_COMMITTED);
        String limits = version.mariaDb()
                ? ", max_statement_time = 2, idle_transaction_timeout = 2"
                : ", max_execution_time = 2000";
        link.update("SET SESSION lock_wait_timeout = 1, innodb_lock_wait_timeout = 1, sql_mode = 'STRICT_ALL_TABLES'"
                + limits);
        if (!version.mariaDb()) {
            // MySQL ends idle connections, not idle transactions.
            link.limitTogether("SET SESSION wait_timeout = 2", "SET SESSION wait_timeout = DEFAULT");
        }
    }
}
