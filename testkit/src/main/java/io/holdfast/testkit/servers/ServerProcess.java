package io.holdfast.testkit.servers;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * A server's process, under a guardian shell that ends it when this JVM ends for any reason, even by SIGKILL (see
 * {@code guardian.sh}).
 *
 * <p>Not thread-safe: the owner's lock guards it.
 */
final class ServerProcess {

    private static final String SCRIPT = script();

    /** A session of its own, so that Ctrl-C at the terminal ends the JVM first and not the server that the JVM uses. */
    private static final boolean HAS_SETSID =
            RedisInstallations.onPath("setsid").isPresent();

    private final Process guardian;
    private final BufferedReader words;
    private final long pid;
    private boolean ended;

    private ServerProcess(Process guardian, BufferedReader words, long pid) {
        this.guardian = guardian;
        this.words = words;
        this.pid = pid;
    }

    /** Starts the command with the environment of this process. */
    static ServerProcess start(List<String> command, Path log, Path dir) throws IOException {
        return start(command, Map.of(), log, dir);
    }

    /**
     * Starts the command and appends its output to the log.
     *
     * @param environment variables in addition to those of this process
     * @param dir a folder that is removed when the server is closed or this JVM ends
     */
    static ServerProcess start(List<String> command, Map<String, String> environment, Path log, Path dir)
            throws IOException {
        List<String> all = new ArrayList<>();
        if (HAS_SETSID) {
            all.add("setsid");
        }
        all.addAll(List.of("sh", "-c", SCRIPT, "holdfast-guardian", log.toString(), dir.toString()));
        all.addAll(command);
        ProcessBuilder builder = new ProcessBuilder(all).redirectError(ProcessBuilder.Redirect.DISCARD);
        builder.environment().putAll(environment);
        Process guardian = builder.start();
        BufferedReader words = guardian.inputReader(StandardCharsets.UTF_8);
        String pid = words.readLine();
        if (pid == null) {
            throw new IOException("could not run sh, which guards the server's process");
        }
        return new ServerProcess(guardian, words, Long.parseLong(pid));
    }

    long pid() {
        return pid;
    }

    /**
     * Waits until a database answers through this process. Ends the process and removes its directory if that fails.
     *
     * @param name names the program in the message of a failure
     * @param url the database's address for JDBC
     * @param log the log of this process
     */
    void awaitAnswer(String name, String url, Path log) throws IOException, InterruptedException {
        long end = System.nanoTime() + Duration.ofSeconds(60).toNanos();
        while (true) {
            try (Connection connection = DriverManager.getConnection(url)) {
                if (connection.isValid(5)) {
                    return;
                }
                throw new SQLException("a connection is not valid");
            } catch (SQLException e) {
                if (System.nanoTime() - end > 0 || !isRunning()) {
                    String said = lastLines(log);
                    close();
                    throw new IOException(name + " did not start: " + said, e);
                }
            }
            Thread.sleep(50);
        }
    }

    boolean isRunning() {
        try {
            // The guardian writes nothing more than that the server has ended.
            return !ended && !words.ready();
        } catch (IOException e) {
            return false;
        }
    }

    /** Ends the server by SIGKILL, even a paused one. It is gone on return. */
    void kill() {
        if (ended) {
            return;
        }
        try {
            order("kill");
            words.readLine();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        ended = true;
    }

    void signal(String name) {
        if (!isRunning()) {
            throw new IllegalStateException("the server's process " + pid + " has ended");
        }
        try {
            ChildJvm.signal(name, pid);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted while sending SIG" + name + " to process " + pid, e);
        }
    }

    /** Ends the server and leaves its directory to the next one. */
    void leave() {
        kill();
        try {
            order("leave");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        awaitGuardian();
    }

    /** Ends the server and removes its directory. */
    void close() {
        try {
            guardian.getOutputStream().close();
        } catch (IOException e) {
            // The guardian itself is gone, which closes the pipe as well.
        }
        ended = true;
        awaitGuardian();
    }

    private void order(String word) throws IOException {
        guardian.getOutputStream().write((word + "\n").getBytes(StandardCharsets.UTF_8));
        guardian.getOutputStream().flush();
    }

    private void awaitGuardian() {
        boolean interrupted = false;
        try {
            while (true) {
                try {
                    if (!guardian.waitFor(10, TimeUnit.SECONDS)) {
                        throw new IllegalStateException("the server's process " + pid + " does not end");
                    }
                    return;
                } catch (InterruptedException e) {
                    interrupted = true; // leave nothing behind, even when a test is cancelled
                }
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /** Returns the last lines of a log, for the message of a failed start. */
    static String lastLines(Path log) {
        try {
            List<String> lines = Files.readAllLines(log, StandardCharsets.UTF_8);
            return String.join("\n", lines.subList(Math.max(0, lines.size() - 8), lines.size()));
        } catch (IOException e) {
            return "(no log)";
        }
    }

    private static String script() {
        try (InputStream in = ServerProcess.class.getResourceAsStream("guardian.sh")) {
            if (in == null) {
                throw new IllegalStateException("guardian.sh is not in the testkit's jar");
            }
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
