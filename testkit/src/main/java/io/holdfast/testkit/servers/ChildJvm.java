package io.holdfast.testkit.servers;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * Starts JVMs that run a class of this JVM's class path, for tests that kill or stop a process.
 *
 * <pre>{@code
 * Process holder = ChildJvm.command("-Xmx96m", Holder.class.getName(), uri).start();
 * ChildJvm.signal("STOP", holder.pid());
 * }</pre>
 */
public final class ChildJvm {

    private ChildJvm() {}

    /**
     * Returns a builder of a JVM with this JVM's Java and class path, and with options that make it quick to start. Its
     * list of words can be added to.
     *
     * @param words more options, the name of the main class, and the arguments of that
     */
    public static ProcessBuilder command(String... words) {
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "-cp",
                System.getProperty("java.class.path")));
        command.addAll(List.of(words));
        return new ProcessBuilder(command);
    }

    /**
     * Sends a signal to a process.
     *
     * @param signal for example {@code STOP}
     * @throws IOException if the process has ended, or there is no {@code sh}
     */
    public static void signal(String signal, long pid) throws IOException, InterruptedException {
        // The shell's own kill, because small images have no /bin/kill.
        Process kill = new ProcessBuilder("sh", "-c", "kill -" + signal + " " + pid)
                .redirectErrorStream(true)
                .start();
        String said = new String(kill.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        if (kill.waitFor() != 0) {
            throw new IOException("could not send SIG" + signal + " to process " + pid + ": " + said.strip());
        }
    }
}
