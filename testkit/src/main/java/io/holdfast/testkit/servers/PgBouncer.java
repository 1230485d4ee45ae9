package io.holdfast.testkit.servers;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;

/**
 * A private PgBouncer in transaction mode before a PostgreSQL: the program that the environment variable {@code
 * HOLDFAST_PGBOUNCER} names, otherwise that of Debian's package.
 *
 * <pre>{@code
 * PostgresServer server = PostgresServer.start();
 * PgBouncer pooler = PgBouncer.start(server.port());
 * Connection connection = DriverManager.getConnection(pooler.url());
 * }</pre>
 *
 * <p>The pooler ends with this JVM. Not thread-safe.
 */
public final class PgBouncer implements AutoCloseable {

    private static final Path INSTALLED = Path.of("/usr/sbin/pgbouncer");

    private final int port = FreePort.next();
    private final Path dir = Files.createTempDirectory("holdfast-pgbouncer-");
    private final Path log = dir.resolve("log");
    private final List<String> command;
    private ServerProcess process;

    private PgBouncer(String program, int server) throws IOException, InterruptedException {
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
    }

    /** Returns whether this machine has a PgBouncer. */
    public static boolean isInstalled() {
        return System.getenv("HOLDFAST_PGBOUNCER") != null || Files.isExecutable(INSTALLED);
    }

    /**
     * Starts a pooler and waits until PostgreSQL answers through it. Needs PostgreSQL's JDBC driver.
     *
     * @param server the port of the PostgreSQL
     * @throws IOException if this machine cannot run one
     */
    public static PgBouncer start(int server) throws IOException, InterruptedException {
        if (!isInstalled()) {
            throw new IOException("there is no " + INSTALLED + " (expected: HOLDFAST_PGBOUNCER=/path/to/pgbouncer)");
        }
        String given = System.getenv("HOLDFAST_PGBOUNCER");
        return new PgBouncer(given == null ? INSTALLED.toString() : given, server);
    }

    /** Returns the port that the pooler listens at. */
    public int port() {
        return port;
    }

    /** Returns the address of PostgreSQL behind it for JDBC, with everything that a connection needs. */
    public String url() {
        return "jdbc:postgresql://127.0.0.1:" + port + "/postgres?user=test&password=s3cret-of-the-server";
    }

    /** Ends the pooler by SIGKILL. */
    public void kill() {
        process.leave();
    }

    /** Starts the pooler again after {@link #kill}, and waits until PostgreSQL answers through it. */
    public void restart() throws IOException, InterruptedException {
        process = started();
    }

    /** Stops the pooler by SIGSTOP. */
    public void pause() {
        process.signal("STOP");
    }

    /** Lets the pooler run again. */
    public void resume() {
        process.signal("CONT");
    }

    /** Ends the pooler and removes its files. */
    @Override
    public void close() {
        process.close();
    }

    private ServerProcess started() throws IOException, InterruptedException {
        ServerProcess started = ServerProcess.start(command, log, dir);
        started.awaitAnswer("PgBouncer", url(), log);
        return started;
    }
}
