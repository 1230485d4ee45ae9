package io.holdfast.zookeeper;

import io.holdfast.Lease;
import io.holdfast.LeaseLostException;
import io.holdfast.LockClient;
import io.holdfast.testkit.servers.ChildJvm;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;

/** A process of its own that takes a lock, and can be stopped and resumed. */
final class PausedHolder implements AutoCloseable {

    private final Process process;
    private final BufferedReader out;

    private PausedHolder(Process process) {
        this.process = process;
        this.out = process.inputReader(StandardCharsets.UTF_8);
    }

    static PausedHolder start(String uri, String name) throws IOException {
        return new PausedHolder(ChildJvm.command(
                        "-Xmx128m",
                        "-Dorg.slf4j.simpleLogger.defaultLogLevel=off",
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
        ChildJvm.signal("STOP", process.pid());
    }

    void resume() throws Exception {
        ChildJvm.signal("CONT", process.pid());
    }

    /** What the process finds when it looks at its lease. */
    String ask() throws IOException {
        process.getOutputStream().write('\n');
        process.getOutputStream().flush();
        return out.readLine();
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
