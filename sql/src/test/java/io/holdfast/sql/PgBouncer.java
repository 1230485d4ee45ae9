package io.holdfast.sql;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
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
 * HOLDFAST_PGBOUNCER} names, otherwise that of Debian's package. Starts once, and ends with this JVM.
 */
final class PgBouncer {

    private static final Path INSTALLED = Path.of("/usr/sbin/pgbouncer");

    private static @Nullable String url;

    private PgBouncer() {}

    /** Returns the URL of PostgreSQL behind it. Skips the test where there is no PgBouncer. */
    static synchronized String url() {
        String given = System.getenv("HOLDFAST_PGBOUNCER");
        assumeTrue(
                given != null || Files.isExecutable(INSTALLED),
                "There is no PgBouncer (expected: HOLDFAST_PGBOUNCER=/path/to/pgbouncer)");
        String started = url;
        if (started == null) {
            try {
                started = start(given == null ? INSTALLED.toString() : given);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
            url = started;
        }
        return started;
    }

    private static String start(String program) throws IOException, InterruptedException {
        int server =
                URI.create(Databases.postgres().substring("jdbc:".length())).getPort();
        int port;
        try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            port = free.getLocalPort();
        }
        Path dir = Files.createTempDirectory("holdfast-pgbouncer-");
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
        List<String> command = new ArrayList<>(List.of(program));
        if (System.getProperty("user.name").equals("root")) {
            // It refuses to run as root.
            command.addAll(List.of("-u", "nobody"));
        }
        command.add(settings.toString());
        Path log = dir.resolve("log");
        Process process = new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(log.toFile())
                .start();
        Runtime.getRuntime().addShutdownHook(new Thread(process::destroy));
        String address = "jdbc:postgresql://127.0.0.1:" + port + "/postgres?user=test";
        awaitReady(process, address, log);
        return address;
    }

    private static void awaitReady(Process process, String address, Path log) throws IOException, InterruptedException {
        long end = System.nanoTime() + Duration.ofSeconds(30).toNanos();
        while (true) {
            try (Connection ready = DriverManager.getConnection(address)) {
                if (ready.isValid(5)) {
                    return;
                }
            } catch (SQLException e) {
                if (System.nanoTime() - end > 0 || !process.isAlive()) {
                    throw new IllegalStateException("PgBouncer did not start: " + Files.readString(log), e);
                }
            }
            Thread.sleep(50);
        }
    }
}
