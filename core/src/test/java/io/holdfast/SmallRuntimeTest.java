package io.holdfast;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.memory.MemoryLockStore;
import io.holdfast.observe.Recorder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The client in runtimes that lack modules of the JDK, each in a process of its own. */
class SmallRuntimeTest {

    /** What the process runs. It prints what each line of the runtime has and what the client does. */
    public static final class Program {

        public static void main(String[] arguments) throws Exception {
            for (String module : List.of("jdk.jfr", "java.management")) {
                System.out.println(
                        module + " " + ModuleLayer.boot().findModule(module).isPresent());
            }
            System.out.println(
                    "records " + Recorder.INSTANCE.getClass().getSimpleName().equals("FlightRecording"));
            try (LockClient client = LockClient.connect("memory:small")) {
                Lease lease = client.acquire("a");
                Thread waiter = new Thread(() -> client.getLock("a").lock());
                waiter.start();
                while (client.localLocks().get(0).waiting() == 0) {
                    Thread.onSpinWait();
                }
                lease.release();
                waiter.join();
                Lease lost = client.acquire("b");
                client.forceRelease("b");
                System.out.println("lost " + !lost.isValid());
            }
        }
    }

    @TempDir
    private Path folder;

    @ParameterizedTest
    @ValueSource(strings = {"java.base", "java.base,java.logging"})
    void works_without_the_flight_recorder(String modules) throws Exception {
        assertThat(run("--limit-modules", modules))
                .contains("jdk.jfr false", "java.management false", "records false", "lost true");
    }

    /** The test above would prove nothing if the process never recorded. */
    @Test
    void records_with_it() throws Exception {
        assertThat(run()).contains("jdk.jfr true", "java.management true", "records true", "lost true");
    }

    /** Preparing the first event takes the JVM 50 ms, which a program that records nothing does not pay. */
    @Test
    void prepares_no_event_without_a_recording() throws Exception {
        assertThat(run("-Xlog:class+load"))
                .contains("records true", "lost true")
                .anyMatch(line -> line.contains("io.holdfast.observe.FlightRecording "))
                .noneMatch(line -> line.contains("io.holdfast.observe.FlightRecording$"));
        assertThat(run("-Xlog:class+load", "-XX:StartFlightRecording"))
                .anyMatch(line -> line.contains("io.holdfast.observe.FlightRecording$AcquireEvent "));
    }

    /** The core as a module reads the recorder's module if that is there, and brings it not. */
    @Test
    void records_as_a_module_too() throws Exception {
        List<String> all = new ArrayList<>(List.of("--module-path", path(MemoryLockStore.class)));
        Collections.addAll(all, "--patch-module", "io.holdfast.core=" + path(SmallRuntimeTest.class));
        Collections.addAll(all, "-m", "io.holdfast.core/" + Program.class.getName());
        assertThat(start(all)).contains("jdk.jfr true", "records true", "lost true");
        all.addAll(0, List.of("--limit-modules", "io.holdfast.core"));
        assertThat(start(all)).contains("jdk.jfr false", "records false", "lost true");
    }

    private List<String> run(String... options) throws Exception {
        List<String> all = new ArrayList<>(List.of(options));
        Collections.addAll(
                all,
                "-cp",
                path(MemoryLockStore.class) + System.getProperty("path.separator") + path(SmallRuntimeTest.class),
                Program.class.getName());
        return start(all);
    }

    private List<String> start(List<String> arguments) throws Exception {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(List.of("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"));
        command.addAll(arguments);
        Path output = folder.resolve("output");
        ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
        Map<String, String> environment = builder.environment();
        environment.remove("JAVA_TOOL_OPTIONS");
        environment.remove("JDK_JAVA_OPTIONS");
        Process process = builder.redirectOutput(output.toFile()).start();
        try {
            assertThat(process.waitFor(2, TimeUnit.MINUTES)).isTrue();
        } finally {
            process.destroyForcibly();
        }
        List<String> lines = Files.readAllLines(output);
        assertThat(process.exitValue()).as("%s", lines).isZero();
        return lines;
    }

    private static String path(Class<?> type) throws Exception {
        return Path.of(type.getProtectionDomain().getCodeSource().getLocation().toURI())
                .toString();
    }
}
