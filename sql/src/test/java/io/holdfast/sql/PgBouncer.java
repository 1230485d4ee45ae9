package io.holdfast.sql;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.holdfast.testkit.servers.FreePort;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A PgBouncer in transaction mode before the PostgreSQL of the tests: the program that the environment variable {@code
 * HOLDFAST_PGBOUNCER} names, otherwise that of Debian's package. Ends with this JVM.
 */
final class PgBouncer {

    private static final Path INSTALLED = Path.of("/usr/sbin/pgbouncer");

    private static @Nullable PgBouncer shared;

    private final int port = FreePort.next();
    private final Path dir = Files.createTempDirectory("holdfast-pgbouncer-");
    private final List<String> command;
    private Process process;

    private PgBouncer(String program) throws IOException, InterruptedException {
        int server =
                URI.create(Databases.postgres().substring("jdbc:".length())).getPort();
        Files.setPosixFilePermissions(dir, PosixFilePermissions.fromString("rwxr-xr-x"));
        Path settings = dir.resolve("pgbouncer.ini");
        Files.writeString(settings, """
                [databases]
                postgres = user=test host=127.0.0.1 port=%d
                [pgbouncer]
                listen_addr = 127.0.0.1
                listen_port = %d
                unix_socket_dir =
                auth_type = any
                pool_mode = transaction
                default_pool_size = 5
                max_client_conn = 500
                """.formatted(server, port));
        command = new ArrayList<>(List.of(program));
        if (System.getProperty("user.name").equals("root")) {
            // It refuses to run as root.
            command.addAll(List.of("-u", "nobody"));
        }
        command.add(settings.toString());
        process = started();
        Runtime.getRuntime().addShutdownHook(new Thread(this::close));
        awaitReady();
    }

    /** Returns the URL of PostgreSQL behind one that all tests share. Skips the test where there is no PgBouncer. */
    static synchronized String sharedUrl() {
        PgBouncer known = shared;
        if (known == null) {
            known = own();
            shared = known;
        }
        return known.url();
    }

    /** Starts one of the test's own, which it may kill. Skips the test where there is no PgBouncer. */
    static PgBouncer own() {
        String given = System.getenv("HOLDFAST_PGBOUNCER");
        assumeTrue(
                given != null || Files.isExecutable(INSTALLED),
                "There is no PgBouncer (expected: HOLDFAST_PGBOUNCER=/path/to/pgbouncer)");
        try {
            return new PgBouncer(given == null ? INSTALLED.toString() : given);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Returns the URL of PostgreSQL behind it. */
    String url() {
        return "jdbc:postgresql://127.0.0.1:" + port + "/postgres?user=test";
    }

    private Process started() throws IOException {
        return new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.appendTo(log().toFile()))
                .start();
    }

    private Path log() {
        return dir.resolve("log");
    }

    /** Ends it by SIGKILL. */
    void kill() throws InterruptedException {
        process.destroyForcibly().waitFor();
    }

    void restart() throws IOException, InterruptedException {
        process = started();
        awaitReady();
    }

    void close() {
        process.destroyForcibly();
    }

    private void awaitReady() throws IOException, InterruptedException {
        long end = System.nanoTime() + Duration.ofSeconds(30).toNanos();
        while (true) {
            try (Connection ready = DriverManager.getConnection(url())) {
                if (ready.isValid(5)) {
                    return;
                }
            } catch (SQLException e) {
                if (System.nanoTime() - end > 0 || !process.isAlive()) {
                    throw new IllegalStateException("PgBouncer did not start: " + Files.readString(log()), e);
                }
            }
            Thread.sleep(50);
        }
    }
}
