package io.holdfast.testkit.servers;

import java.io.BufferedOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
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

    /** Version 3.0 of PostgreSQL's protocol. */
    private static final int PROTOCOL = 196_608;

    private final int port = FreePort.next();
    private final Path dir = Files.createTempDirectory("holdfast-pgbouncer-");
    private final Path log = dir.resolve("log");
    private final Path settings = dir.resolve("pgbouncer.ini");
    private final List<String> command;
    private ServerProcess process;

    private PgBouncer(String program, int server) throws IOException, InterruptedException {
        Files.setPosixFilePermissions(dir, PosixFilePermissions.fromString("rwxr-xr-x"));
        write(server);
        command = new ArrayList<>(List.of(program));
        if (System.getProperty("user.name").equals("root")) {
            // It refuses to run as root.
            command.addAll(List.of("-u", "nobody"));
        }
        command.add(settings.toString());
        process = started();
    }

    private void write(int server) throws IOException {
        Files.writeString(settings, """
                [databases]
                postgres = user=test host=127.0.0.1 port=%d
                [pgbouncer]
                listen_addr = 127.0.0.1
                listen_port = %d
                unix_socket_dir =
                auth_type = any
                admin_users = test
                pool_mode = transaction
                default_pool_size = 5
                max_client_conn = 500
                """.formatted(server, port));
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

    /**
     * Waits until all transactions have ended, and holds up the next ones until {@link #letPass}. No client's connection
     * is closed.
     */
    public void hold() throws IOException {
        console("PAUSE");
    }

    /** Lets transactions pass again after {@link #hold}. */
    public void letPass() throws IOException {
        console("RESUME");
    }

    /**
     * Sends all later transactions to another PostgreSQL, also those of clients that are connected.
     *
     * @param server its port
     */
    public void pointTo(int server) throws IOException {
        write(server);
        console("RELOAD");
    }

    /** Sends a command to the pooler's console. PostgreSQL's driver begins with a SET, which the console refuses. */
    private void console(String command) throws IOException {
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
            // It takes a login that comes in parts for a broken one.
            DataOutputStream out = new DataOutputStream(new BufferedOutputStream(socket.getOutputStream()));
            DataInputStream in = new DataInputStream(socket.getInputStream());
            byte[] login = "user\0test\0database\0pgbouncer\0\0".getBytes(StandardCharsets.US_ASCII);
            out.writeInt(8 + login.length);
            out.writeInt(PROTOCOL);
            out.write(login);
            out.flush();
            awaitReady(in);
            byte[] query = (command + "\0").getBytes(StandardCharsets.US_ASCII);
            out.writeByte('Q');
            out.writeInt(4 + query.length);
            out.write(query);
            out.flush();
            awaitReady(in);
        }
    }

    private static void awaitReady(DataInputStream in) throws IOException {
        int type = 0;
        while (type != 'Z') {
            type = in.readUnsignedByte();
            String said = new String(in.readNBytes(in.readInt() - 4), StandardCharsets.US_ASCII);
            if (type == 'E') {
                throw new IOException(
                        "PgBouncer's console: " + said.replace('\0', ' ').strip());
            }
        }
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
