package io.holdfast.testkit.servers;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A private Redis or Valkey server: a real process on a free port of the loopback interface, without persistence. It
 * accepts commands when {@link #start} returns, ends with {@link #close} or with this JVM, and leaves no process and no
 * file. Thread-safe. Needs {@code sh}, which every Linux and macOS has, and no test library.
 *
 * <pre>{@code
 * try (RedisServer server = RedisServer.start();
 *         LockClient locks = LockClient.connect(server.uri())) {
 *     server.pause();
 *     assertThatThrownBy(() -> locks.acquire("order:42")).isInstanceOf(LockStoreException.class);
 *     server.resume();
 *     locks.run("order:42", lease -> orders.refund(42));
 * }
 * }</pre>
 */
public final class RedisServer implements AutoCloseable {

    /** The settings of a server to start. Not thread-safe. */
    public static final class Builder {

        private @Nullable Path executable;
        private @Nullable String password;
        private List<String> args = List.of();
        private ServerRole role = ServerRole.SERVER;
        private @Nullable ServerTls tls;
        private Map<String, String> environment = Map.of();

        private Builder() {}

        /** Sets the server's program; by default the one bundled in embedded-redis, or one of the PATH. */
        public Builder executable(Path executable) {
            this.executable = executable;
            return this;
        }

        /** Sets the server's program to one of {@link RedisServer#available()}. */
        public Builder installation(Installation installation) {
            return executable(installation.executable());
        }

        /** Sets further arguments of the server's command line, for example {@code "--maxmemory", "2mb"}. */
        public Builder args(String... args) {
            this.args = List.of(args);
            return this;
        }

        Builder role(ServerRole role) {
            this.role = role;
            return this;
        }

        /** Adds TLS on a second port. */
        public Builder tls(ServerTls how) {
            this.tls = how;
            return this;
        }

        /** Sets variables of the server's environment, in addition to those of this process. */
        public Builder environment(Map<String, String> variables) {
            this.environment = Map.copyOf(variables);
            return this;
        }

        /** Sets the password of the default user. */
        public Builder password(String password) {
            this.password = password;
            return this;
        }

        /**
         * Starts the server and waits until it answers.
         *
         * @throws IllegalStateException if it does not start; the message says why, with the end of the server's log
         */
        public RedisServer start() {
            Path program = executable;
            Installation installation = program == null
                    ? RedisInstallations.preferred()
                    : RedisInstallations.probe(program)
                            .orElseThrow(() -> new IllegalStateException(
                                    "executable: " + program + " (expected: a Redis or Valkey server that runs here)"));
            for (int attempt = 1; ; attempt++) {
                try {
                    return new RedisServer(installation, this);
                } catch (FreePort.TakenException e) {
                    if (attempt == 5) {
                        throw new IllegalStateException(installation + " found no free port", e);
                    }
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
            }
        }
    }

    private static final String HOST = "127.0.0.1";
    private static final Duration START_TIMEOUT = Duration.ofSeconds(20);
    private static final Duration REPLY_TIMEOUT = Duration.ofSeconds(5);

    private final Installation installation;
    private final ServerRole role;
    private final @Nullable String password;
    private final List<String> args;
    private final Path dir;
    private final Path log;
    private final int port;
    private final @Nullable ServerTls tls;
    private final int tlsPort;
    private final Map<String, String> environment;

    private final ReentrantLock lock = new ReentrantLock();
    private ServerProcess process; // by lock
    private boolean paused; // by lock
    private boolean closed; // by lock

    private RedisServer(Installation installation, Builder how) throws IOException {
        this.installation = installation;
        this.role = how.role;
        this.password = how.password;
        this.args = how.args;
        this.port = role.freePort();
        this.tls = how.tls;
        this.tlsPort = tls == null ? 0 : role.freePort();
        this.environment = how.environment;
        this.dir = Files.createTempDirectory("holdfast-redis");
        this.log = dir.resolve("server.log");
        this.process = ServerProcess.start(commandLine(), environment, log, dir);
        try {
            awaitReady(process);
        } catch (IOException | RuntimeException e) {
            process.close();
            throw e;
        }
    }

    /** Starts a server with defaults. */
    public static RedisServer start() {
        return builder().start();
    }

    /** Returns a builder for a server with a password, arguments or a program of its own. */
    public static Builder builder() {
        return new Builder();
    }

    /**
     * Returns the servers that run here: the bundled one, those in the environment variable HOLDFAST_SERVERS (paths of
     * programs, separated by {@code :}) and those on the PATH; each version once.
     */
    public static List<Installation> available() {
        return RedisInstallations.all();
    }

    public Installation installation() {
        return installation;
    }

    /** Returns the address as a store URI, with the password if there is one. */
    public String uri() {
        String user = password == null
                ? ""
                : ":" + URLEncoder.encode(password, StandardCharsets.UTF_8).replace("+", "%20") + "@";
        return "redis://" + user + HOST + ":" + port;
    }

    public String host() {
        return HOST;
    }

    public int port() {
        return port;
    }

    /** Returns {@code 127.0.0.1:PORT}. */
    public String address() {
        return HOST + ":" + port;
    }

    /** Returns the port for clients and other servers: the one with TLS, if there is one. */
    public int announcedPort() {
        return tls == null ? port : tlsPort;
    }

    /** Returns the process id of the server itself. */
    public long pid() {
        lock.lock();
        try {
            return process.pid();
        } finally {
            lock.unlock();
        }
    }

    /**
     * Pauses the process, as a long garbage collection or a frozen VM does: connections stay, and no command is
     * answered.
     */
    public void pause() {
        withProcess(server -> {
            server.signal("STOP");
            paused = true;
        });
    }

    /** Returns whether the process runs: it is neither paused nor killed. */
    public boolean isUp() {
        lock.lock();
        try {
            return !closed && !paused && process.isRunning();
        } finally {
            lock.unlock();
        }
    }

    /** Continues a paused process. */
    public void resume() {
        withProcess(server -> {
            server.signal("CONT");
            paused = false;
        });
    }

    /** Ends the process by SIGKILL. On return it is gone, with everything that it had in memory. */
    public void kill() {
        withProcess(ServerProcess::kill);
    }

    /** Restarts the server at the same port with the same arguments and directory. Ends it first if it still runs. */
    public void restart() {
        withProcess(before -> {
            before.leave();
            paused = false;
            try {
                process = ServerProcess.start(commandLine(), environment, log, dir);
                awaitReady(process);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        });
    }

    /**
     * Sends one command on a connection of its own.
     *
     * @return a String, a Long, a List of these, or null
     * @throws RespClient.ErrorReply if the server answers with an error
     * @throws UncheckedIOException if it does not answer
     */
    public @Nullable Object command(String... command) {
        try (RespClient client = connect()) {
            return client.call(command);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /**
     * Returns how many times each command was executed since the server's start, by its name in lower case ({@code
     * evalsha}, {@code config|get}). Includes the commands that scripts call and those of this class.
     */
    public Map<String, Long> commandCounts() {
        Map<String, Long> counts = new TreeMap<>();
        String prefix = "cmdstat_";
        for (String line : String.valueOf(command("INFO", "commandstats")).split("\r\n", -1)) {
            int calls = line.indexOf(":calls=");
            if (line.startsWith(prefix) && calls > 0) {
                String rest = line.substring(calls + ":calls=".length());
                counts.put(line.substring(prefix.length(), calls), Long.valueOf(rest.split(",", 2)[0]));
            }
        }
        return counts;
    }

    /** Ends the process in any state and removes its directory. Idempotent. */
    @Override
    public void close() {
        lock.lock();
        try {
            if (!closed) {
                closed = true;
                process.close();
            }
        } finally {
            lock.unlock();
        }
    }

    @Override
    public String toString() {
        return installation + " at " + address();
    }

    private void withProcess(Consumer<ServerProcess> action) {
        lock.lock();
        try {
            if (closed) {
                throw new IllegalStateException("the server is closed");
            }
            action.accept(process);
        } finally {
            lock.unlock();
        }
    }

    private List<String> commandLine() throws IOException {
        List<String> line = new ArrayList<>();
        line.add(installation.executable().toString());
        line.addAll(role.firstArguments(dir));
        line.addAll(List.of("--port", String.valueOf(port), "--bind", HOST, "--dir", dir.toString()));
        if (role != ServerRole.SENTINEL && installation.isAtLeast(7, 0)) {
            line.addAll(List.of("--enable-debug-command", "local"));
        }
        if (password != null) {
            line.addAll(List.of("--requirepass", password));
        }
        if (tls != null) {
            line.addAll(tls.arguments(tlsPort, role));
        }
        line.addAll(args);
        return line;
    }

    private RespClient connect() throws IOException {
        RespClient client = RespClient.connect(HOST, port, REPLY_TIMEOUT);
        try {
            if (password != null) {
                client.call("AUTH", password);
            }
            return client;
        } catch (IOException | RuntimeException e) {
            client.close();
            throw e;
        }
    }

    private void awaitReady(ServerProcess started) throws IOException {
        long deadline = System.nanoTime() + START_TIMEOUT.toNanos();
        while (started.isRunning()) {
            if (isReady(started)) {
                return;
            }
            if (System.nanoTime() - deadline > 0) {
                throw new IllegalStateException(installation + " did not answer within " + START_TIMEOUT.toSeconds()
                        + " s; its log ends with:\n" + ServerProcess.lastLines(log));
            }
            // A server gives no sign when it is ready, so this asks again.
            LockSupport.parkNanos(5_000_000);
            if (Thread.currentThread().isInterrupted()) {
                throw new IllegalStateException("interrupted while " + installation + " was starting");
            }
        }
        String said = ServerProcess.lastLines(log);
        if (said.contains("in use")) {
            throw new FreePort.TakenException(said);
        }
        throw new IllegalStateException(installation + " did not start; its log ends with:\n" + said);
    }

    private boolean isReady(ServerProcess started) {
        try (RespClient client = connect()) {
            client.call("PING");
            Object info = client.call("INFO", "server");
            // Another server may have taken the port just before this one, which is about to report that and end.
            return String.valueOf(info).contains("process_id:" + started.pid() + "\r");
        } catch (RespClient.ErrorReply e) {
            String said = String.valueOf(e.getMessage());
            return said.startsWith("NOPERM") || said.startsWith("NOAUTH"); // up, but not for this user
        } catch (IOException e) {
            return false;
        }
    }
}
