package io.holdfast.sql;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.spi.StoreException;
import io.holdfast.spi.StoreException.Outcome;
import java.net.URI;
import java.sql.SQLException;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Which servers are refused, and what their errors mean; without a server. */
class MySqlServerTest {

    private final SqlErrors errors = new SqlErrors(SqlSettings.parse(URI.create("jdbc:mariadb://db/app?user=app")));

    @ParameterizedTest
    @ValueSource(
            strings = {
                "8.0.36",
                "9.7.4-2",
                "8.0.mysql_aurora.3.04.0",
                "10.6.18-MariaDB-log",
                "11.4.5-MariaDB",
            })
    void aPrimaryIsServed(String version) {
        assertThatCode(() -> MySqlServer.refuse(variables("version", version), errors))
                .doesNotThrowAnyException();
    }

    @ParameterizedTest
    @CsvSource({
        "5.7.44-log,, is MySQL 5.7 (expected: MySQL 8",
        "10.5.25-MariaDB,, is MariaDB 10.5 (expected: MySQL 8",
        "8.0.11-TiDB-v7.5.0,, is no MySQL but tidb",
        "8.0.30-Vitess,, is no MySQL but vitess",
        "11.4.5-MariaDB, wsrep_on=ON;wsrep_provider=/usr/lib/libgalera_smm.so, several primaries",
        "8.4.0, group_replication_group_name=x;group_replication_single_primary_mode=OFF, several primaries",
        "8.4.0, log_bin=ON;binlog_format=STATEMENT, binlog_format=STATEMENT",
    })
    void anotherServerIsRefused(String version, String more, String message) {
        assertThatThrownBy(() -> MySqlServer.refuse(variables("version", version, more), errors))
                .isInstanceOfSatisfying(
                        StoreException.class, e -> assertThat(e.outcome()).isEqualTo(Outcome.FATAL))
                .hasMessageStartingWith("jdbc:mariadb://db/app ")
                .hasMessageContaining(message);
    }

    @ParameterizedTest
    @ValueSource(strings = {"wsrep_on=ON;wsrep_provider=none", "log_bin=ON;binlog_format=ROW"})
    void aServerThatOnlyCouldIsServed(String more) {
        assertThatCode(() -> MySqlServer.refuse(variables("version", "11.4.5-MariaDB", more), errors))
                .doesNotThrowAnyException();
    }

    /** The address may lead to the primary soon. */
    @Test
    void aReplicaIsTriedAgain() {
        assertThatThrownBy(() -> MySqlServer.refuse(variables("version", "8.4.0", "read_only=ON"), errors))
                .isInstanceOfSatisfying(
                        StoreException.class, e -> assertThat(e.outcome()).isEqualTo(Outcome.NOT_EXECUTED))
                .hasMessageContaining("is read-only, as a replica is");
    }

    @Test
    void commitsThatAreWrittenLaterAreReported() {
        assertThat(MySqlServer.notice(variables("innodb_flush_log_at_trx_commit", "1")))
                .isNull();
        assertThat(MySqlServer.notice(variables("innodb_flush_log_at_trx_commit", "2")))
                .startsWith("has innodb_flush_log_at_trx_commit=2: ");
    }

    @ParameterizedTest
    @CsvSource({
        "HY000, 1205, NOT_EXECUTED, false",
        "40001, 1213, NOT_EXECUTED, false",
        "HY000, 1290, NOT_EXECUTED, true",
        "42S02, 1146, FATAL, false",
        "42000, 1142, FATAL, false",
        "70100, 1317, UNKNOWN, true",
        "70100, 1969, UNKNOWN, true",
        "08S01, 0, UNKNOWN, true",
    })
    void anErrorSaysWhetherTheCommandWasExecuted(String state, int number, Outcome outcome, boolean breaks) {
        SQLException error = new SQLException("said", state, number);
        assertThat(errors.ofCommand(error).outcome()).isEqualTo(outcome);
        assertThat(errors.breaksConnection(error)).isEqualTo(breaks);
    }

    @Test
    void anErrorNamesTheStatementToRun() {
        assertThat(errors.ofCommand(new SQLException("no table", "42S02", 1146)))
                .hasMessageContainingAll("io/holdfast/sql/mysql.sql", "createTable=true", "ENGINE = InnoDB");
        assertThat(errors.ofCommand(new SQLException("no right", "42000", 1142)))
                .hasMessageContaining("GRANT SELECT, INSERT, UPDATE, DELETE ON holdfast_lock TO the user");
        assertThat(errors.ofConnecting(new SQLException("Unknown database", "42000", 1049))
                        .outcome())
                .isEqualTo(Outcome.FATAL);
    }

    /** MariaDB's driver asks for TLS from version 4 on. */
    @Test
    void anErrorOfTlsNamesTheOption() {
        assertThat(errors.ofConnecting(new SQLException("with a Self signed certificates. Either set", "42000")))
                .hasMessageContaining("sslMode=disable");
        assertThat(errors.ofConnecting(new SQLException("Connection refused", "08000")))
                .hasMessageNotContaining("sslMode");
    }

    private static Map<String, String> variables(String name, String value) {
        return variables(name, value, null);
    }

    private static Map<String, String> variables(String name, String value, @Nullable String more) {
        Map<String, String> variables = new HashMap<>(
                Map.of("version", "8.4.0", "version_comment", "Server", "read_only", "OFF", "innodb_read_only", "OFF"));
        variables.put(name, value);
        if (more != null) {
            for (String each : more.split(";", -1)) {
                variables.put(each.substring(0, each.indexOf('=')), each.substring(each.indexOf('=') + 1));
            }
        }
        return variables;
    }
}
