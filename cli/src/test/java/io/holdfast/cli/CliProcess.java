package io.holdfast.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.testkit.servers.ChildJvm;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.awaitility.Awaitility;

/** The command line as a process of its own, with this one's Java and class path. */
final class CliProcess implements AutoCloseable {

    private static final Duration PATIENCE = Duration.ofSeconds(90);

    private final Process process;
    private final Output out;
    private final Output err;

    private CliProcess(Process process) {
        this.process = process;
        this.out = new Output(process.getInputStream());
        this.err = new Output(process.getErrorStream());
    }

    static CliProcess start(String... args) {
        return start(Map.of(), args);
    }

    /** The words that start the command line with these arguments, for a shell or for the command of {@code exec}. */
    static List<String> words(String... args) {
        List<String> command = ChildJvm.command("-Dio.lettuce.core.jfr=false").command();
        if (Runtime.version().feature() >= 24) {
            // As the launcher does.
            command.add("--enable-native-access=ALL-UNNAMED");
        }
        command.add(Main.class.getName());
        command.addAll(List.of(args));
        return command;
    }

    static CliProcess start(Map<String, String> environment, String... args) {
        return of(environment, words(args));
    }

    /** Starts a command that starts the command line. */
    static CliProcess of(String... command) {
        return of(Map.of(), List.of(command));
    }

    private static CliProcess of(Map<String, String> environment, List<String> command) {
        ProcessBuilder builder = new ProcessBuilder(command);
        builder.environment().keySet().removeIf(variable -> variable.startsWith("HOLDFAST_"));
        builder.environment().putAll(environment);
        try {
            return new CliProcess(builder.start());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Starts a program that uses locks, with this one's Java and class path. */
    static CliProcess program(Class<?> main, String... args) {
        List<String> command = words();
        command.set(command.size() - 1, main.getName());
        command.addAll(List.of(args));
        try {
            return new CliProcess(new ProcessBuilder(command).start());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Runs to the end, with nothing on standard input. */
    static CliProcess run(String... args) {
        CliProcess started = start(args);
        started.type("");
        started.exitCode();
        return started;
    }

    /** Writes to its standard input and closes that. */
    void type(String text) {
        try (var in = process.getOutputStream()) {
            in.write(text.getBytes(StandardCharsets.UTF_8));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Waits for a line that its command prints when it has come so far. */
    void awaitOut(String text) {
        await(this::out, text);
    }

    /** Waits for a line that it says about itself. */
    void awaitErr(String text) {
        await(this::err, text);
    }

    private void await(Supplier<String> said, String text) {
        Awaitility.await().atMost(PATIENCE).pollInterval(Duration.ofMillis(10)).untilAsserted(() -> {
            if (process.isAlive()) {
                assertThat(said.get()).as(err()).contains(text);
            }
        });
        assertThat(said.get()).as(err()).contains(text);
    }

    /** Waits for its end; ends it, and fails, if that does not come. */
    int exitCode() {
        try {
            if (!process.waitFor(PATIENCE.toMillis(), TimeUnit.MILLISECONDS)) {
                process.destroyForcibly();
                throw new AssertionError("still running, after: " + out() + err());
            }
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
        return process.exitValue();
    }

    boolean isAlive() {
        return process.isAlive();
    }

    long pid() {
        return process.pid();
    }

    /** What it has written so far; all of it once it has ended. */
    String out() {
        return out.text();
    }

    String err() {
        return err.text();
    }

    @Override
    public void close() {
        process.descendants().forEach(ProcessHandle::destroyForcibly);
        process.destroyForcibly();
    }

    private final class Output {

        private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        private final Thread reader;

        private Output(InputStream in) {
            reader = new Thread(() -> {
                try (in) {
                    in.transferTo(bytes);
                } catch (IOException e) {
                    // the end, as well
                }
            });
            reader.setDaemon(true);
            reader.start();
        }

        private String text() {
            if (!process.isAlive()) {
                try {
                    reader.join(1_000); // a grandchild may hold the other end
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                }
            }
            return bytes.toString(StandardCharsets.UTF_8);
        }
    }
}
