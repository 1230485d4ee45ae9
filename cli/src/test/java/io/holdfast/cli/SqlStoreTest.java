package io.holdfast.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.LockStoreException;
import io.holdfast.cli.console.ExitCode;
import io.holdfast.cli.console.Io;
import io.holdfast.jdbc.JdbcOnce;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The commands that take a store, on a database. Its drivers are in the archive. */
class SqlStoreTest {

    /** What the first page shows: no server, and no step before. */
    @Test
    void aCommandRunsUnderALockInAFileWithoutAServer(@TempDir Path dir) {
        String store = "jdbc:h2:" + dir.resolve("locks") + ";AUTO_SERVER=TRUE;createTable=true";
        ExecOnStore.assertRunsUnderALock(store, "-n");
        InProcess doctor = InProcess.run("doctor", "--store", store);
        assertThat(doctor.exitCode()).as("%s%s", doctor.out(), doctor.err()).isZero();
        assertThat(doctor.out())
                .contains("OK       version      H2 2.", "OK       storage", "WRITE_DELAY is 0", "0 errors, ")
                .as("a database without messages")
                .doesNotContain("messagesHeard");
    }

    @Test
    void theDoctorNamesTheStatementThatMakesTheTables(@TempDir Path dir) {
        InProcess doctor = InProcess.run("doctor", "--store", "jdbc:h2:" + dir.resolve("locks"));
        assertThat(doctor.exitCode()).isEqualTo(ExitCode.STORE_UNAVAILABLE);
        assertThat(doctor.err()).contains("lacks a table of Holdfast", "createTable=true: CREATE TABLE");
    }

    @Test
    void theDoctorKnowsTheTableOfKeys(@TempDir Path dir) throws SQLException {
        String database = "jdbc:h2:" + dir.resolve("app") + ";AUTO_SERVER=TRUE";
        InProcess missing = InProcess.run("doctor", "--store", "memory:once", "--once", database);
        assertThat(missing.exitCode()).isEqualTo(ExitCode.BAD_CONFIGURATION);
        assertThat(missing.out()).contains("ERROR    once         There is no table holdfast_once (expected: ");
        try (Connection connection = DriverManager.getConnection(database)) {
            JdbcOnce.defaults().createTable(connection);
        }
        InProcess there = InProcess.run("doctor", "--store", "memory:once", "--once", database);
        assertThat(there.exitCode()).as("%s%s", there.out(), there.err()).isZero();
        assertThat(there.out()).contains("OK       once         holdfast_once has 0 keys, 0 past the time to keep");
        InProcess away = InProcess.run(
                "doctor",
                "--store",
                "memory:once",
                "--once",
                "jdbc:nobody://app:s3cret@db/app?user=app&password=s3cret");
        assertThat(away.exitCode()).isEqualTo(ExitCode.BAD_CONFIGURATION);
        assertThat(away.out())
                .contains("ERROR    once         jdbc:nobody://db/app cannot be asked: ")
                .doesNotContain("s3cret");
    }

    /** The driver of PostgreSQL is there: otherwise the message would name it. */
    @Test
    void aServerThatIsAwayIsUnavailableAndNoPasswordIsShown() {
        try (CliProcess ls = CliProcess.start(
                Map.of("HOLDFAST_STORE", "jdbc:postgresql://127.0.0.1:1/app?user=app&password=s3cret"), "ls")) {
            assertThat(ls.exitCode()).isEqualTo(ExitCode.STORE_UNAVAILABLE);
            assertThat(ls.err())
                    .contains("jdbc:postgresql://127.0.0.1:1/app cannot be connected to")
                    .doesNotContain("s3cret");
        }
    }

    @Test
    void aMissingDriverIsNamedWithTheWayOut() {
        StringWriter err = new StringWriter();
        Failures failures =
                new Failures(new Io(new PrintWriter(new StringWriter()), new PrintWriter(err, true)), () -> false);
        failures.handleExecutionException(
                new LockStoreException(
                        "jdbc:x://db/app needs the driver org.x:x, which is not on the class path", "x", null),
                null,
                null);
        assertThat(err.toString())
                .endsWith("which is not on the class path (expected: the path of its jar in HOLDFAST_DRIVER)\n");
    }

    @Test
    void aDriverThatIsNotWhereTheVariableSaysIsNamedWithThePath() {
        assertThat(Failures.wayToDriver(
                        "jdbc:x://db/app needs the driver org.x:x, which is not on the class path", "/nowhere.jar"))
                .isEqualTo(" (expected: the path of its jar in HOLDFAST_DRIVER, which is \"/nowhere.jar\")");
    }
}
