package io.holdfast.spring.boot4;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.jdbc.JdbcOnce;
import io.holdfast.testkit.servers.MariaDbServer;
import io.holdfast.testkit.servers.PostgresServer;
import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.spi.ToolProvider;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.jdbc.core.ConnectionCallback;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DriverManagerDataSource;

/**
 * Spring applications are killed (SIGKILL) in calls of a method with {@code @Idempotent}. In each application 25
 * calls are under way: 20 stand at one step each, all steps in turn, and five are at a random moment. Another application,
 * which is never killed, repeats the calls, half of them while the first still run. Locks and data are in one database.
 *
 * <p>{@code -Dkills=} sets how many applications are killed, four by default, and 40 for 1,000 calls; {@code -Dseed=}
 * the moments.
 */
@Tag("deep") // quick: IdempotentTest, and JdbcOnceTest for a crash before the commit
class KilledApplicationTest {

    private static final int KILLS = Integer.getInteger("kills", 4);
    private static final int AT_STEPS = 20;
    private static final int AT_RANDOM = 5;
    private static final int RANDOM_MICROS = 150_000;

    private final long seed = Long.getLong("seed", System.nanoTime());
    private final Random random = new Random(seed);
    private final String run = UUID.randomUUID().toString();

    /** How many calls were ended at a step, and of how many the effect stayed. */
    private final Map<String, int[]> ends = new TreeMap<>();

    @TempDir
    Path dir;

    private List<String> command = List.of();

    @Test
    void no_effect_is_doubled_and_none_is_lost_on_PostgreSQL() throws Exception {
        try (PostgresServer server = PostgresServer.start()) {
            killAll("PostgreSQL", server.url());
        }
    }

    @Test
    void no_effect_is_doubled_and_none_is_lost_on_MariaDB() throws Exception {
        try (MariaDbServer server = MariaDbServer.start()) {
            killAll("MariaDB", server.adminUrl());
        }
    }

    private void killAll(String database, String url) throws Exception {
        JdbcTemplate jdbc = new JdbcTemplate(new DriverManagerDataSource(url));
        jdbc.execute((ConnectionCallback<?>) connection -> {
            JdbcOnce.defaults().createTable(connection);
            return null;
        });
        jdbc.execute("CREATE TABLE killed_payments (id VARCHAR(100) NOT NULL, attempt VARCHAR(60) NOT NULL)");
        command = command(url);
        List<String> steps = steps();
        int kills = (KILLS + 1) / 2;
        try (Application other = new Application(command)) {
            other.awaitReady();
            Application next = new Application(command);
            try {
                for (int i = 0; i < kills; i++) {
                    Application killed = next;
                    // It starts while this one is killed.
                    next = new Application(command);
                    kill(i, steps.size(), killed, other, jdbc);
                }
            } finally {
                next.close();
            }
        }
        int calls = kills * (AT_STEPS + AT_RANDOM);
        assertThat(jdbc.queryForObject("SELECT COUNT(*) FROM killed_payments", Integer.class))
                .isEqualTo(calls + 1);
        StringBuilder story = new StringBuilder(database + ", seed " + seed + ": " + kills
                + " applications were killed in " + calls + " calls, 0 effects doubled, 0 lost");
        ends.forEach((step, counts) -> story.append("\n  ")
                .append(step)
                .append(": ")
                .append(counts[0])
                .append(", of these committed ")
                .append(counts[1]));
        System.out.println(story);
    }

    /** Returns the command of an application, whose classes are in one archive that the JVM need not verify again. */
    private List<String> command(String url) throws Exception {
        List<String> jars = new ArrayList<>();
        for (String entry : System.getProperty("java.class.path").split(File.pathSeparator, -1)) {
            jars.add(Files.isDirectory(Path.of(entry)) ? jar(entry, jars.size()) : entry);
        }
        Path archive = dir.resolve("classes.jsa");
        List<String> made = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:TieredStopAtLevel=1",
                "-XX:+UseSerialGC",
                "-Xmx128m",
                "-Xlog:disable",
                "-XX:ArchiveClassesAtExit=" + archive,
                "-cp",
                String.join(File.pathSeparator, jars),
                "-Dtest.database=" + url,
                "-Dholdfast.store=" + url + "&createTable=true",
                "-Dholdfast.lease-time=1s",
                KilledApplication.class.getName()));
        try (Application first = new Application(made)) {
            first.awaitReady();
            first.endInput();
            assertThat(first.process.waitFor(2, TimeUnit.MINUTES)).isTrue();
        }
        made.set(5, "-XX:SharedArchiveFile=" + archive);
        return made;
    }

    /** Returns a jar of a folder: classes of a folder are in no archive. */
    private String jar(String folder, int number) {
        String jar = dir.resolve(number + ".jar").toString();
        ToolProvider tool = ToolProvider.findFirst("jar").orElseThrow();
        assertThat(tool.run(System.out, System.err, "--create", "--no-compress", "--file", jar, "-C", folder, "."))
                .isZero();
        return jar;
    }

    private List<String> steps() throws IOException {
        try (Application application = new Application(command)) {
            application.awaitReady();
            application.pay(run + ":steps", KilledApplication.SAY_ALL);
            List<String> steps = new ArrayList<>();
            for (String line = application.line(); !line.startsWith("done "); line = application.line()) {
                assertThat(line).startsWith("step ");
                steps.add(line);
            }
            assertThat(steps).hasSizeGreaterThan(15).contains("step before INSERT of the effect", "step after commit");
            return steps;
        }
    }

    /** Kills an application during its calls, and compares the rows that are left with the receipts that it gave. */
    private void kill(int number, int steps, Application killed, Application other, JdbcTemplate jdbc)
            throws Exception {
        killed.awaitReady();
        Map<String, String> calls = new LinkedHashMap<>();
        for (int i = 0; i < AT_STEPS; i++) {
            String payment = run + ":" + number + ":" + i;
            killed.pay(payment, (number * AT_STEPS + i) % steps);
            calls.put(payment, "");
        }
        killed.await("at", calls);
        for (int i = 0; i < AT_RANDOM; i++) {
            calls.put(run + ":" + number + ":random" + i, "at a random moment");
        }
        List<String> later = new ArrayList<>();
        for (Map.Entry<String, String> call : calls.entrySet()) {
            if (call.getValue().equals("at a random moment")) {
                killed.pay(call.getKey(), KilledApplication.NEVER);
            }
            if (random.nextBoolean()) {
                other.pay(call.getKey(), KilledApplication.NEVER);
            } else {
                later.add(call.getKey());
            }
        }
        TimeUnit.MICROSECONDS.sleep(random.nextInt(RANDOM_MICROS));
        killed.kill();
        for (String payment : later) {
            other.pay(payment, KilledApplication.NEVER);
        }
        Map<String, String> receipts = new HashMap<>();
        calls.keySet().forEach(payment -> receipts.put(payment, ""));
        other.await("done", receipts);
        Map<String, String> answers = killed.answers();
        for (Map.Entry<String, String> call : calls.entrySet()) {
            String payment = call.getKey();
            String story = payment + " ended " + call.getValue() + ", seed " + seed;
            String receipt = receipts.get(payment);
            assertThat(jdbc.queryForList("SELECT attempt FROM killed_payments WHERE id = ?", String.class, payment))
                    .as(story)
                    .containsExactly(receipt);
            assertThat(jdbc.queryForList(
                            "SELECT result FROM holdfast_once WHERE name = ? AND done = 1",
                            String.class,
                            "killed:" + payment))
                    .as(story)
                    .singleElement()
                    .asString()
                    .contains("\"" + receipt + "\"");
            assertThat(answers.getOrDefault(payment, receipt)).as(story).isEqualTo(receipt);
            int[] counts = ends.computeIfAbsent(call.getValue(), unused -> new int[2]);
            counts[0]++;
            counts[1] += receipt.startsWith(killed.process.pid() + "-") ? 1 : 0;
        }
    }

    /** A process of {@link KilledApplication}. */
    private static final class Application implements AutoCloseable {

        private final Process process;
        private final BufferedReader output;
        private final BufferedWriter input;

        Application(List<String> command) throws IOException {
            process = new ProcessBuilder(command)
                    .redirectError(ProcessBuilder.Redirect.DISCARD)
                    .start();
            output = process.inputReader();
            input = process.outputWriter();
        }

        void pay(String payment, int stopAt) throws IOException {
            input.write(payment + " " + stopAt + "\n");
            input.flush();
        }

        void endInput() throws IOException {
            input.close();
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
}
