package io.holdfast.demo;

import io.holdfast.testkit.servers.ChildJvm;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;

/** The command line as a process of its own, with this one's Java and class path; it writes into files. */
final class HoldfastProcess implements AutoCloseable {

    private static final Duration PATIENCE = Duration.ofSeconds(90);

    private final Path out;
    private final Path err;
    private final Process process;

    private HoldfastProcess(List<String> command) throws IOException {
        out = Files.createTempFile("holdfast", ".out");
        err = Files.createTempFile("holdfast", ".err");
        ProcessBuilder builder =
                new ProcessBuilder(command).redirectOutput(out.toFile()).redirectError(err.toFile());
        builder.environment().keySet().removeIf(variable -> variable.startsWith("HOLDFAST_"));
        process = builder.start();
        process.getOutputStream().close();
    }

    static HoldfastProcess start(String... args) {
        List<String> command = ChildJvm.command("-Dio.lettuce.core.jfr=false").command();
        if (Runtime.version().feature() >= 24) {
            // As the launcher does.
            command.add("--enable-native-access=ALL-UNNAMED");
        }
        command.add(Launcher.class.getName());
        command.addAll(List.of(args));
        try {
            return new HoldfastProcess(command);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Runs to the end. */
    static HoldfastProcess run(String... args) {
        HoldfastProcess started = start(args);
        started.exitCode();
        return started;
    }

    void awaitOut(String text) {
        Awaitility.await().atMost(PATIENCE).until(() -> out().contains(text) || !process.isAlive());
        if (!out().contains(text)) {
            throw new AssertionError("no \"" + text + "\" in: " + out() + err());
        }
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

    long pid() {
        return process.pid();
    }

    String out() {
        return text(out);
    }

    String err() {
        return text(err);
    }

    private static String text(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public void close() {
        process.descendants().forEach(ProcessHandle::destroyForcibly);
        process.destroyForcibly();
        try {
            Files.deleteIfExists(out);
            Files.deleteIfExists(err);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
