package io.holdfast.spring.boot4;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.spi.ToolProvider;

/** A process of {@link KilledApplication}. */
final class KilledApplicationProcess implements AutoCloseable {

    private final Process process;
    private final BufferedReader output;
    private final BufferedWriter input;

    KilledApplicationProcess(List<String> command) throws IOException {
        process = new ProcessBuilder(command)
                .redirectError(ProcessBuilder.Redirect.DISCARD)
                .start();
        output = process.inputReader();
        input = process.outputWriter();
    }

    /**
     * Returns the command of an application on the database, whose classes are in one archive in the folder that the JVM
     * need not verify again.
     */
    static List<String> command(String database, Path folder) throws Exception {
        List<String> jars = new ArrayList<>();
        for (String entry : System.getProperty("java.class.path").split(File.pathSeparator, -1)) {
            jars.add(Files.isDirectory(Path.of(entry)) ? jar(entry, folder.resolve(jars.size() + ".jar")) : entry);
        }
        Path archive = folder.resolve("classes.jsa");
        List<String> made = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:ArchiveClassesAtExit=" + archive,
                "-XX:TieredStopAtLevel=1",
                "-XX:+UseSerialGC",
                "-Xmx128m",
                "-Xlog:disable",
                "-cp",
                String.join(File.pathSeparator, jars),
                "-Dtest.database=" + database,
                "-Dholdfast.store=" + database + "&createTable=true",
                "-Dholdfast.lease-time=1s",
                KilledApplication.class.getName()));
        try (KilledApplicationProcess first = new KilledApplicationProcess(made)) {
            first.awaitReady();
            // The classes of a call belong into the archive, too.
            first.pay("archived", KilledApplication.NEVER);
            first.await("done", new HashMap<>(Map.of("archived", "")));
            first.input.close();
            assertThat(first.process.waitFor(2, TimeUnit.MINUTES)).isTrue();
        }
        made.set(1, "-XX:SharedArchiveFile=" + archive);
        return made;
    }

    /** Returns a jar of a folder: classes of a folder are in no archive. */
    private static String jar(String folder, Path jar) {
        ToolProvider tool = ToolProvider.findFirst("jar").orElseThrow();
        assertThat(tool.run(
                        System.out,
                        System.err,
                        "--create",
                        "--no-compress",
                        "--file",
                        jar.toString(),
                        "-C",
                        folder,
                        "."))
                .isZero();
        return jar.toString();
    }

    long pid() {
        return process.pid();
    }

    void pay(String payment, int stopAt) throws IOException {
        input.write(payment + " " + stopAt + "\n");
        input.flush();
    }

    String line() throws IOException {
        String line = output.readLine();
        assertThat(line).as("a line of the application").endsWith(".");
        return line.substring(0, line.length() - 1);
    }

    void awaitReady() throws IOException {
        assertThat(line()).isEqualTo("ready");
    }

    /** Waits until it has said this word of each payment, and puts the rest of the line into the map. */
    void await(String word, Map<String, String> payments) throws IOException {
        while (payments.containsValue("")) {
            String[] words = line().split(" ", 3);
            if (words[0].equals(word)) {
                assertThat(payments).containsKey(words[1]);
                payments.put(words[1], words[2]);
            } else {
                // A failure of a call that it repeats.
                assertThat(words[0]).isEqualTo("failed");
            }
        }
    }

    void kill() throws InterruptedException {
        // By its handle: Process.destroyForcibly closes the output, too.
        assertThat(process.toHandle().destroyForcibly()).isTrue();
        assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
    }

    /** Returns the receipts that it gave before it was killed; the last line may be cut off. */
    Map<String, String> answers() throws IOException {
        Map<String, String> answers = new HashMap<>();
        for (String line = output.readLine(); line != null; line = output.readLine()) {
            if (line.startsWith("done ") && line.endsWith(".")) {
                String[] words = line.substring(0, line.length() - 1).split(" ", -1);
                answers.put(words[1], words[2]);
            }
        }
        return answers;
    }

    @Override
    public void close() {
        process.toHandle().destroyForcibly();
    }
}
