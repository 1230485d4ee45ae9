package io.holdfast.zookeeper;

import io.holdfast.Lease;
import io.holdfast.LeaseLostException;
import io.holdfast.LockClient;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;

/** A process of its own that takes a lock, and can be stopped and resumed. */
final class PausedHolder implements AutoCloseable {

    private final Process process;
    private final BufferedReader out;

    private PausedHolder(Process process) {
        this.process = process;
        this.out = process.inputReader(StandardCharsets.UTF_8);
    }

    static PausedHolder start(String uri, String name) throws IOException {
        return new PausedHolder(new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-Xmx128m",
                        "-XX:+UseSerialGC",
                        "-XX:TieredStopAtLevel=1",
                        "-Dorg.slf4j.simpleLogger.defaultLogLevel=off",
                        "-cp",
                        System.getProperty("java.class.path"),
                        PausedHolder.class.getName(),
                        uri,
                        name)
                .redirectError(ProcessBuilder.Redirect.DISCARD)
                .start());
    }

    long awaitToken() throws IOException {
        return Long.parseLong(out.readLine());
    }

    void pause() throws Exception {
        signal("STOP");
    }

    void resume() throws Exception {
        signal("CONT");
    }

    /** What the process finds when it looks at its lease. */
    String ask() throws IOException {
        process.getOutputStream().write('\n');
        process.getOutputStream().flush();
        return out.readLine();
    }

    private void signal(String name) throws Exception {
        new ProcessBuilder("kill", "-" + name, Long.toString(process.pid()))
                .start()
                .waitFor();
    }

    @Override
    public void close() {
        process.destroyForcibly();
    }

    public static void main(String[] args) throws Exception {
        LockClient client = LockClient.connect(args[0]);
        Lease lease = client.acquire(args[1]);
        System.out.println(lease.fencingToken());
        System.in.read();
        boolean valid = lease.isValid();
        String release = "done";
        try {
            lease.release();
        } catch (LeaseLostException e) {
            release = "lost";
        }
        System.out.println("valid " + valid + ", release " + release);
        Runtime.getRuntime().halt(0);
    }
}
