package io.holdfast.sql;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.Lease;
import io.holdfast.LockClient;
import io.holdfast.spi.Finding;
import io.holdfast.spi.Finding.Severity;
import io.holdfast.spi.StoreException;
import io.holdfast.spi.TimeSource;
import java.nio.file.Path;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** What {@code holdfast doctor} says of a database. */
class SqlDiagnosisTest {

    private static final String UNBOUNDED = "&options=-c%20default_transaction_isolation=serializable";

    private final String schema = "doctor_" + UUID.randomUUID().toString().replace("-", "");

    @Test
    void postgres() throws Exception {
        List<Finding> findings = diagnose(postgresUrl());
        assertThat(one(findings, "version").text()).contains("PostgreSQL", "driver");
        assertThat(one(findings, "rights").severity()).isEqualTo(Severity.OK);
        assertThat(one(findings, "table").text()).isEqualTo(schema + ".holdfast_lock");
        assertThat(one(findings, "isolation").text()).isEqualTo("READ COMMITTED");
        // The server of the tests does not sync.
        assertThat(one(findings, "commits").text()).startsWith("fsync is off, synchronous_commit is on, so a crash");
        assertThat(one(findings, "standbys").text()).isEqualTo("none");
        assertThat(of(findings, "timeouts").get(0))
                .isEqualTo(Finding.ok("timeouts", "lock_timeout is 1s, statement_timeout is 2s"));
        assertThat(of(findings, "timeouts").get(1).text()).startsWith("idle_in_transaction_session_timeout is 0");
        assertThat(one(findings, "connections").text()).containsPattern("^\\d+ of 100 connections are used");
        assertThat(one(findings, "clock").text()).containsPattern("\\d+ ms (behind|ahead of) this machine's");
        assertThat(one(findings, "notify")).isEqualTo(Finding.ok("notify", "a NOTIFY is heard"));
        assertThat(one(findings, "row").text()).containsPattern("lock_key [0-9a-f]{64}, base \\d+$");
    }

    /** A pooler that refuses the start packet's options leaves the defaults of the role. */
    @Test
    void aRoleWithOtherDefaultsIsToldWhatToSet() throws Exception {
        List<Finding> findings = diagnose(postgresUrl() + UNBOUNDED);
        assertThat(one(findings, "isolation").severity()).isEqualTo(Severity.ERROR);
        assertThat(one(findings, "isolation").advice()).contains("ALTER ROLE", "default_transaction_isolation");
        assertThat(of(findings, "timeouts").get(0).severity()).isEqualTo(Severity.WARNING);
        assertThat(of(findings, "timeouts").get(0).advice()).contains("ALTER ROLE", "statement_timeout");
    }

    /** PostgreSQL empties such a table after a crash. */
    @Test
    void anUnloggedTableIsAnError() throws Exception {
        LockClient.connect(postgresUrl()).close();
        Databases.execute(Databases.postgres(), "ALTER TABLE " + schema + ".holdfast_lock SET UNLOGGED");
        Finding table = one(diagnose(postgresUrl()), "table");
        assertThat(table.severity()).isEqualTo(Severity.ERROR);
        assertThat(table.advice()).contains("SET LOGGED");
    }

    @Test
    void messagesThatAreSwitchedOffAreNoFault() throws Exception {
        assertThat(one(diagnose(postgresUrl() + "&notify=false"), "notify").text())
                .contains("notify=false");
    }

    @Test
    void aPoolerIsAWarning() throws Exception {
        Finding pooler = hearing("pooler", true, () -> {
            throw new AssertionError("it hears nothing");
        });
        assertThat(pooler.severity()).isEqualTo(Severity.WARNING);
    }

    /** Messages stay within a database, as a proxy may keep them from a listener. */
    @Test
    void aMessageThatIsNotHeardIsAWarning() throws Exception {
        String elsewhere = Databases.postgres().replace("/postgres?", "/template1?");
        Finding notify = hearing("notify", false, () -> Databases.connect(elsewhere));
        assertThat(notify.severity()).isEqualTo(Severity.WARNING);
        assertThat(notify.text()).startsWith("a NOTIFY was not heard within");
    }

    @Test
    void aSecondConnectionThatIsRefusedIsAWarning() throws Exception {
        Finding notify = hearing("notify", false, () -> {
            throw new StoreException(StoreException.Outcome.NOT_EXECUTED, "too many connections", null);
        });
        assertThat(notify.severity()).isEqualTo(Severity.WARNING);
        assertThat(notify.text()).contains("refuses a second connection");
    }

    /** Returns what is said of a subject that depends on the connection that listens. */
    private Finding hearing(String subject, boolean pooled, Workers.Connector listening) throws SQLException {
        String url = postgresUrl();
        LockClient.connect(url).close();
        try (Link link = Databases.connect(url)) {
            SqlSettings settings = SqlSettings.parse(url, DriverProperties.none());
            SqlDiagnosis diagnosis = new SqlDiagnosis(settings, listening, () -> pooled, TimeSource.system());
            return one(diagnosis.of(link, "none"), subject);
        }
    }

    @Test
    void aStandbyThatMayForgetIsAWarning() {
        assertThat(standbys("on", "", 1).severity()).isEqualTo(Severity.WARNING);
        assertThat(standbys("local", "one", 1).severity()).isEqualTo(Severity.WARNING);
        assertThat(standbys("on", "one", 0).text()).contains("a commit waits");
        assertThat(standbys("remote_write", "one", 1).severity()).isEqualTo(Severity.OK);
    }

    @Test
    void aClockThatIsFarAwayIsAWarning() {
        assertThat(SqlDiagnosis.clock(Duration.ofMillis(-300)))
                .isEqualTo(Finding.ok("clock", "the database's clock is 300 ms behind this machine's"));
        assertThat(SqlDiagnosis.clock(Duration.ofSeconds(2)).severity()).isEqualTo(Severity.WARNING);
    }

    @ParameterizedTest
    @EnumSource(names = {"MYSQL", "MARIADB"})
    void mySql(SqlSettings.Kind kind) throws Exception {
        List<Finding> findings = diagnose(Databases.url(kind));
        assertThat(one(findings, "version").text()).contains("driver");
        assertThat(one(findings, "rights").severity()).isEqualTo(Severity.OK);
        assertThat(one(findings, "table")).isEqualTo(Finding.ok("table", "holdfast_lock is in InnoDB"));
        assertThat(one(findings, "isolation")).isEqualTo(Finding.ok("isolation", "READ COMMITTED"));
        assertThat(one(findings, "timeouts"))
                .isEqualTo(Finding.ok("timeouts", "innodb_lock_wait_timeout is 1 s, lock_wait_timeout is 1 s"));
        assertThat(one(findings, "commits")).isEqualTo(Finding.ok("commits", "innodb_flush_log_at_trx_commit is 1"));
        assertThat(one(findings, "standbys").text()).startsWith("none");
        assertThat(one(findings, "connections").text()).containsPattern("^\\d+ of \\d+ connections are used");
        assertThat(one(findings, "clock").text()).containsPattern("\\d+ ms (behind|ahead of) this machine's");
        assertThat(one(findings, "notify").text()).contains("sends no messages");
        assertThat(one(findings, "row").text()).containsPattern("lock_key [0-9a-f]{64}, base \\d+$");
        assertThat(findings).allSatisfy(each -> assertThat(each.severity()).isEqualTo(Severity.OK));
    }

    @Test
    void aTableWithoutTransactionsIsAnErrorOnMySql() {
        assertThat(MySqlDiagnosis.table("MyISAM").severity()).isEqualTo(Severity.ERROR);
        assertThat(MySqlDiagnosis.table("MyISAM").advice()).contains("ALTER TABLE holdfast_lock ENGINE = InnoDB");
        assertThat(MySqlDiagnosis.isolation("REPEATABLE-READ").severity()).isEqualTo(Severity.ERROR);
    }

    @ParameterizedTest
    @CsvSource({
        "1, OK",
        "0, WARNING",
        "2, WARNING",
    })
    void aCommitThatIsWrittenLaterIsAWarningOnMySql(String flush, Severity severity) {
        assertThat(MySqlDiagnosis.commits(Map.of("innodb_flush_log_at_trx_commit", flush))
                        .severity())
                .isEqualTo(severity);
    }

    @ParameterizedTest
    @CsvSource({
        // semi-synchronous, works, waits at, for ms, replicas that are seen
        "OFF, OFF, AFTER_SYNC, 10000, 0, OK",
        "OFF, OFF, AFTER_SYNC, 10000, 1, WARNING",
        "ON, ON, AFTER_SYNC, 10000, 1, WARNING",
        "ON, ON, AFTER_COMMIT, 4294967295, 1, WARNING",
        "ON, OFF, AFTER_SYNC, 4294967295, 1, WARNING",
        "ON, ON, AFTER_SYNC, 4294967295, 0, OK",
    })
    void aReplicaThatMayForgetIsAWarningOnMySql(
            String enabled, String works, String point, String millis, long seen, Severity severity) {
        Map<String, String> variables = Map.of(
                "log_bin", "ON",
                "rpl_semi_sync_source_enabled", enabled,
                "rpl_semi_sync_source_wait_point", point,
                "rpl_semi_sync_source_timeout", millis);
        Map<String, String> status = Map.of("rpl_semi_sync_source_status", works);
        assertThat(MySqlDiagnosis.replicas(variables, status, seen).severity()).isEqualTo(severity);
    }

    @Test
    void fewFreeConnectionsAreAWarning() {
        assertThat(SqlDiagnosis.connections(79, 100).severity()).isEqualTo(Severity.OK);
        assertThat(SqlDiagnosis.connections(80, 100).advice()).contains("max_connections");
    }

    @Test
    void h2SaysWhoSharesIt(@TempDir Path dir) throws Exception {
        assertThat(one(diagnose(Databases.H2), "storage").text()).contains("in the memory of this process");
        String file = "jdbc:h2:file:" + dir.resolve("locks") + ";createTable=true";
        assertThat(one(diagnose(file), "storage").advice()).contains("AUTO_SERVER=TRUE");
        List<Finding> shared = diagnose(file + ";AUTO_SERVER=TRUE");
        assertThat(one(shared, "storage").severity()).isEqualTo(Severity.OK);
        assertThat(one(shared, "commits").text()).startsWith("WRITE_DELAY is 0");
        assertThat(shared).allSatisfy(each -> assertThat(each.severity()).isEqualTo(Severity.OK));
    }

    private String postgresUrl() throws SQLException {
        Databases.execute(Databases.postgres(), "CREATE SCHEMA IF NOT EXISTS " + schema);
        return Databases.postgres() + "&createTable=true&currentSchema=" + schema;
    }

    private static Finding standbys(String synchronous, String names, long count) {
        return new PostgresDiagnosis.Durability("on", synchronous, names, count).replicas();
    }

    private static List<Finding> diagnose(String url) throws InterruptedException {
        try (LockClient client = LockClient.connect(url);
                Lease lease = client.acquire("holdfast-doctor-" + UUID.randomUUID())) {
            return client.diagnose(lease.name());
        }
    }

    private static Finding one(List<Finding> findings, String subject) {
        assertThat(of(findings, subject)).as("%s", findings).hasSize(1);
        return of(findings, subject).get(0);
    }

    private static List<Finding> of(List<Finding> findings, String subject) {
        return findings.stream().filter(each -> each.subject().equals(subject)).toList();
    }
}
