package io.holdfast.testkit.servers;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Objects;

/** A JVM of its own that starts a server and then waits for the end. */
final class ServerInChildJvm implements AutoCloseable {

    private final Process jvm;
    private final BufferedReader output;

    /** Runs in the child. */
    @SuppressWarnings("SystemOut") // the way to tell the parent
    public static void main(String[] args) throws IOException {
        RedisServer server = RedisServer.start();
        System.out.println(server.pid());
        System.out.println(directory(server));
        System.out.println(server.installation().executable());
        if (System.in.read() >= 0) {
            server.close();
        }
    }

    static String directory(RedisServer server) {
        return String.valueOf(((List<?>) Objects.requireNonNull(server.command("CONFIG", "GET", "dir"))).get(1));
    }

    ServerInChildJvm(String... jvmArgs) throws IOException {
        ProcessBuilder builder = ChildJvm.command(jvmArgs).redirectError(ProcessBuilder.Redirect.INHERIT);
        builder.command().add(ServerInChildJvm.class.getName());
        jvm = builder.start();
        output = jvm.inputReader(StandardCharsets.UTF_8);
    }

    /** The child's next line: the server's process id, then its directory, then its program. */
    String nextLine() throws IOException {
        String line = output.readLine();
        if (line == null) {
            throw new IOException("the child JVM ended; what it said is in the log of this test");
        }
        return line;
    }

    /** SIGKILL. */
    void kill() {
        jvm.destroyForcibly();
    }

    @Override
    public void close() throws IOException {
        jvm.getOutputStream().write('\n');
        jvm.getOutputStream().close();
        jvm.onExit().join();
    }
}
