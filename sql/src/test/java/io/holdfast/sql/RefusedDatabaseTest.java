package io.holdfast.sql;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.holdfast.LockClient;
import io.holdfast.LockStoreException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.time.Duration;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.opentest4j.AssertionFailedError;

/**
 * Databases that cannot keep locks yet, on real servers: the error is one line, without the password, and the statement in
 * it is what was missing.
 */
class RefusedDatabaseTest {

    private static final String PASSWORD = "s3cret-of-a-user";

    private final String unique = "refused_" + UUID.randomUUID().toString().replace("-", "");

    /** Keeps a database in memory. */
    private Connection keeper;

    @AfterEach
    void close() throws SQLException {
        if (keeper != null) {
            keeper.close();
        }
    }

    @ParameterizedTest
    @EnumSource
    void aMissingTable(SqlSettings.Kind kind) throws SQLException {
        String url = emptyDatabase(kind);
        String said = refusal(url);
        assertThat(said)
                .contains(" lacks a table of Holdfast (", "or open the store once with createTable=true: ")
                .doesNotContain("SQL statement", "INSERT INTO");
        Databases.execute(
                url,
                said.substring(said.indexOf("createTable=true: ") + "createTable=true: ".length())
                        .split("; "));
        LockClient.connect(url).close();
    }

    @ParameterizedTest
    @EnumSource
    void aMissingRight(SqlSettings.Kind kind) throws SQLException {
        String admin = emptyDatabase(kind);
        makeTables(kind, admin);
        String url = user(kind, admin);
        String said = refusal(url);
        assertThat(said).contains(" refuses this user a right (", "); run as the owner: GRANT ");
        Databases.execute(
                admin,
                said.substring(said.indexOf("GRANT "))
                        .replace("the user of the URL", name(kind))
                        .split("; "));
        LockClient.connect(url).close();
    }

    /** As a managed database sets it when its disk is full, and as a hot standby is. */
    @Test
    void aReadOnlyUserOfPostgres() throws SQLException {
        String admin = emptyDatabase(SqlSettings.Kind.POSTGRESQL);
        makeTables(SqlSettings.Kind.POSTGRESQL, admin);
        String url = user(SqlSettings.Kind.POSTGRESQL, admin);
        Databases.execute(
                admin,
                "GRANT DELETE ON holdfast_lock, holdfast_card TO " + unique,
                "ALTER ROLE " + unique + " SET default_transaction_read_only = on");
        String said = refusal(url);
        assertThat(said)
                .endsWith(
                        "(it is a standby or read-only; expected: the primary, and ALTER ROLE … SET default_transaction_read_only = off for the user of"
                                + " the URL)");
        Databases.execute(admin, "ALTER ROLE " + unique + " SET default_transaction_read_only = off");
        LockClient.connect(url).close();
    }

    /** They speak PostgreSQL's protocol and tell what they are only in their version. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "CockroachDB CCL v24.1.0 (x86_64-pc-linux-gnu, built 2024/05/15)",
                "PostgreSQL 11.2-YB-2.20.1.0-b0 on x86_64-pc-linux-gnu"
            })
    void aDatabaseOfSeveralClocks(String version) throws SQLException {
        String url = emptyDatabase(SqlSettings.Kind.POSTGRESQL);
        Databases.execute(url, "CREATE FUNCTION version() RETURNS text LANGUAGE sql AS $$ SELECT '" + version + "' $$");
        assertThat(refusal(url + ",pg_catalog"))
                .endsWith(
                        " is no PostgreSQL but a database of several clocks, by which a lease has no certain end (expected:"
                                + " PostgreSQL 13 or newer)");
    }

    @Test
    void aWrongPassword() throws SQLException {
        String admin = emptyDatabase(SqlSettings.Kind.MARIADB);
        String url = user(SqlSettings.Kind.MARIADB, admin).replace(PASSWORD, PASSWORD + "-wrong");
        assertThat(refusal(url)).contains(" cannot be connected to: ", "Access denied for user");
    }

    @ParameterizedTest
    @ValueSource(strings = {"jdbc:postgresql", "jdbc:mariadb"})
    void anUnknownHost(String scheme) {
        assertThat(refusal(scheme + "://nobody.invalid/app?user=app"))
                .startsWith(scheme + "://nobody.invalid/app cannot be connected to: ")
                .endsWith(" (its host name is unknown: correct the URL)");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"jdbc:oracle:thin:app/" + PASSWORD + "@db:1521/app", "jdbc:sqlserver://db;password=" + PASSWORD})
    void anotherDatabase(String url) {
        assertThatThrownBy(() -> LockClient.connect(url).close())
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining(
                        "is not supported: its isolation was never tested with these statements (expected:")
                .hasMessageNotContaining(PASSWORD);
    }

    /** Returns the message of an opening that is refused. */
    private static String refusal(String url) {
        LockStoreException refused = catchThrowableOfType(
                LockStoreException.class,
                () -> LockClient.builder()
                        .uri(url)
                        .storeTimeout(Duration.ofSeconds(2))
                        .build()
                        .close());
        if (refused == null) {
            throw new AssertionFailedError("the database was not refused");
        }
        StringWriter trace = new StringWriter();
        refused.printStackTrace(new PrintWriter(trace));
        assertThat(trace.toString()).doesNotContain("s3cret");
        String said = String.valueOf(refused.getMessage());
        assertThat(said).startsWith("jdbc:").doesNotContain("\n");
        return said;
    }

    /** Returns a URL of an administrator, of a database or schema without tables. */
    private String emptyDatabase(SqlSettings.Kind kind) throws SQLException {
        switch (kind) {
            case POSTGRESQL -> {
                Databases.execute(Databases.postgres(), "CREATE SCHEMA " + unique);
                return Databases.postgres() + "&currentSchema=" + unique;
            }
            case H2 -> {
                String url = "jdbc:h2:mem:" + unique + ";USER=admin;PASSWORD=" + PASSWORD;
                keeper = DriverManager.getConnection(url);
                Databases.execute(url, "SET WRITE_DELAY 0");
                return url;
            }
            default -> {
                String url = kind == SqlSettings.Kind.MYSQL ? Databases.mySql() : Databases.mariaDb();
                assumeTrue(url.contains("/test?"), "the database is not one that the tests have started");
                Databases.execute(url, "CREATE DATABASE " + unique);
                return url.replace("/test?", "/" + unique + "?");
            }
        }
    }

    private static void makeTables(SqlSettings.Kind kind, String admin) {
        LockClient.connect(admin + (kind == SqlSettings.Kind.H2 ? ";" : "&") + "createTable=true")
                .close();
    }

    /** Returns the URL of a user who may not delete. */
    private String user(SqlSettings.Kind kind, String admin) throws SQLException {
        String allowed = "GRANT SELECT, INSERT, UPDATE ON ";
        switch (kind) {
            case POSTGRESQL -> {
                Databases.execute(
                        admin,
                        "CREATE ROLE " + unique + " LOGIN PASSWORD '" + PASSWORD + "'",
                        "GRANT USAGE ON SCHEMA " + unique + " TO " + unique,
                        allowed + "ALL TABLES IN SCHEMA " + unique + " TO " + unique);
                return admin.replace("user=test", "user=" + unique + "&password=" + PASSWORD);
            }
            case H2 -> {
                Databases.execute(
                        admin,
                        "CREATE USER " + unique + " PASSWORD '" + PASSWORD + "'",
                        allowed + "SCHEMA PUBLIC TO " + unique);
                return admin.replace("USER=admin", "USER=" + unique);
            }
            default -> {
                Databases.execute(
                        admin,
                        "CREATE USER " + name(kind) + " IDENTIFIED BY '" + PASSWORD + "'",
                        allowed + unique + ".* TO " + name(kind));
                return admin.replace("user=root", "user=" + shortName() + "&password=" + PASSWORD);
            }
        }
    }

    private String name(SqlSettings.Kind kind) {
        return kind.isMySql() ? "'" + shortName() + "'@localhost" : unique;
    }

    /** MySQL's users have at most 32 characters. */
    private String shortName() {
        return unique.substring(0, 30);
    }
}
