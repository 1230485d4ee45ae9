package io.holdfast.spring.boot4;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.jdbc.JdbcOnce;
import io.holdfast.testkit.servers.MariaDbServer;
import io.holdfast.testkit.servers.PostgresServer;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.jdbc.core.ConnectionCallback;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.jdbc.datasource.SingleConnectionDataSource;

/**
 * Spring applications are killed (SIGKILL) in calls of a method with {@code @Idempotent}. In each application 12
 * calls are under way: eight stand at one step each, all steps in turn, and four are at a random moment. Another
 * application, which is never killed, repeats the calls, half of them while the first still run. Locks and data are in
 * one database.
 *
 * <p>{@code -Dkills=} sets how many applications are killed on each database, two by default; {@code -Dseed=} the
 * moments; {@code -Dseconds=} after how long no further one is killed.
 */
@Tag("deep") // quick: IdempotentTest, and JdbcOnceTest for a crash before the commit
class KilledApplicationTest {

    private static final int KILLS = Integer.getInteger("kills", 2);
    private static final long NANOS_MAX = TimeUnit.SECONDS.toNanos(Long.getLong("seconds", 86_400));
    private static final int SIDE_BY_SIDE_MAX = 5;
    private static final int AT_STEPS = 8;
    private static final int AT_RANDOM = 4;
    private static final int RANDOM_MICROS = 150_000;

    private final long seed = Long.getLong("seed", System.nanoTime());

    @TempDir
    Path dir;

    @Test
    void no_effect_is_doubled_and_none_is_lost_on_PostgreSQL() throws Exception {
        // Each call has a connection of its own, in both applications.
        try (PostgresServer server = PostgresServer.start("max_connections=300")) {
            noneIsDoubledOrLost("PostgreSQL", server.url());
        }
    }

    @Test
    void no_effect_is_doubled_and_none_is_lost_on_MariaDB() throws Exception {
        try (MariaDbServer server = MariaDbServer.start()) {
            noneIsDoubledOrLost("MariaDB", server.adminUrl());
        }
    }

    private void noneIsDoubledOrLost(String database, String url) throws Exception {
        JdbcTemplate jdbc = withTables(url);
        Run run = new Run(url, KilledApplicationProcess.command(url, dir), seed);
        run.kill(KILLS, new Random(seed).nextInt(run.steps.size()));
        String story = database + ", seed " + seed + ": " + run;
        System.out.println(story);
        assertThat(run.doubled + run.lost + run.wrong).as(story).isZero();
        // One of the archive, and one of the steps.
        assertThat(jdbc.queryForObject("SELECT COUNT(*) FROM killed_payments", Integer.class))
                .isEqualTo(run.calls + 2);
    }

    /** What this test would say if the key were not committed with the effect. */
    @Test
    void a_key_that_is_committed_apart_from_the_effect_is_found() throws Exception {
        try (PostgresServer server = PostgresServer.start()) {
            withTables(server.url());
            List<String> command = KilledApplicationProcess.command(server.url(), dir);

            Run effectFirst = new Run(server.url(), withFault(command, KilledApplication.EFFECT_FIRST), seed);
            effectFirst.kill(1, effectFirst.steps.indexOf("step after INSERT of the effect"));
            System.out.println("The effect first: " + effectFirst);
            assertThat(effectFirst.doubled).as("%s", effectFirst).isPositive();
            assertThat(effectFirst.lost).as("%s", effectFirst).isZero();

            Run keyFirst = new Run(server.url(), withFault(command, KilledApplication.KEY_FIRST), seed);
            keyFirst.kill(1, keyFirst.steps.indexOf("step after commit"));
            System.out.println("The key first: " + keyFirst);
            assertThat(keyFirst.lost).as("%s", keyFirst).isPositive();
            assertThat(keyFirst.doubled).as("%s", keyFirst).isZero();
        }
    }

    private static JdbcTemplate withTables(String url) {
        JdbcTemplate jdbc = new JdbcTemplate(new DriverManagerDataSource(url));
        jdbc.execute((ConnectionCallback<?>) connection -> {
            JdbcOnce.defaults().createTable(connection);
            return null;
        });
        jdbc.execute("CREATE TABLE killed_payments (id VARCHAR(100) NOT NULL, attempt VARCHAR(60) NOT NULL)");
        return jdbc;
    }

    private static List<String> withFault(List<String> command, String fault) {
        List<String> changed = new ArrayList<>(command);
        changed.add(1, "-Dtest.fault=" + fault);
        return changed;
    }

    /** Applications that are killed, and what became of their calls. */
    private static final class Run {

        private final String id = UUID.randomUUID().toString();
        private final String url;
        private final List<String> command;
        private final long seed;
        private final List<String> steps;
        private final AtomicInteger begun = new AtomicInteger();
        private final long start = System.nanoTime();

        /** How many calls were ended at a step, and of how many the effect stayed. */
        private final Map<String, int[]> ends = new TreeMap<>();

        private final StringBuilder found = new StringBuilder();
        private int killed;
        private int calls;
        private int committed;
        private int doubled;
        private int lost;
        private int wrong;

        Run(String url, List<String> command, long seed) throws IOException {
            this.url = url;
            this.command = command;
            this.seed = seed;
            this.steps = steps();
        }

        private List<String> steps() throws IOException {
            try (KilledApplicationProcess application = new KilledApplicationProcess(command)) {
                application.awaitReady();
                application.pay(id + ":steps", KilledApplication.SAY_ALL);
                List<String> all = new ArrayList<>();
                for (String line = application.line(); !line.startsWith("done "); line = application.line()) {
                    if (line.startsWith("failed ")) {
                        // It repeats the call, all steps of it.
                        all.clear();
                    } else {
                        assertThat(line).startsWith("step ");
                        all.add(line);
                    }
                }
                assertThat(all)
                        .hasSizeGreaterThan(15)
                        .contains("step before INSERT of the effect", "step after commit");
                return all;
            }
        }

        /** Kills so many applications, with calls that stop at the steps from this one on. */
        void kill(int kills, int firstStep) throws Exception {
            int sideBySide = Math.min(SIDE_BY_SIDE_MAX, (kills + 9) / 10);
            ExecutorService threads = Executors.newFixedThreadPool(sideBySide);
            try {
                List<Future<?>> ends = new ArrayList<>();
                for (int i = 0; i < sideBySide; i++) {
                    Random random = new Random(seed + i);
                    ends.add(threads.submit(() -> {
                        killOneAfterTheOther(kills, firstStep, random);
                        return null;
                    }));
                }
                for (Future<?> end : ends) {
                    end.get();
                }
            } finally {
                threads.shutdownNow();
            }
        }

        private void killOneAfterTheOther(int kills, int firstStep, Random random) throws Exception {
            SingleConnectionDataSource database = new SingleConnectionDataSource(url, true);
            try (KilledApplicationProcess other = new KilledApplicationProcess(command)) {
                other.awaitReady();
                KilledApplicationProcess next = new KilledApplicationProcess(command);
                try {
                    for (int i = begun.getAndIncrement(); i < kills && !isOver(); i = begun.getAndIncrement()) {
                        KilledApplicationProcess process = next;
                        // It starts while this one is killed.
                        next = new KilledApplicationProcess(command);
                        kill(i, firstStep, random, process, other, new JdbcTemplate(database));
                    }
                } finally {
                    next.close();
                }
            } finally {
                database.destroy();
            }
        }

        private boolean isOver() {
            return System.nanoTime() - start > NANOS_MAX;
        }

        /** Kills an application during its calls, and lets the other one repeat them. */
        private void kill(
                int number,
                int firstStep,
                Random random,
                KilledApplicationProcess process,
                KilledApplicationProcess other,
                JdbcTemplate jdbc)
                throws Exception {
            process.awaitReady();
            Map<String, String> payments = new LinkedHashMap<>();
            for (int i = 0; i < AT_STEPS; i++) {
                String payment = id + ":" + number + ":" + i;
                process.pay(payment, (firstStep + number * AT_STEPS + i) % steps.size());
                payments.put(payment, "");
            }
            process.await("at", payments);
            for (int i = 0; i < AT_RANDOM; i++) {
                String payment = id + ":" + number + ":random" + i;
                process.pay(payment, KilledApplication.NEVER);
                payments.put(payment, "at a random moment");
            }
            List<String> later = new ArrayList<>();
            for (String payment : payments.keySet()) {
                if (random.nextBoolean()) {
                    other.pay(payment, KilledApplication.NEVER);
                } else {
                    later.add(payment);
                }
            }
            TimeUnit.MICROSECONDS.sleep(random.nextInt(RANDOM_MICROS));
            process.kill();
            for (String payment : later) {
                other.pay(payment, KilledApplication.NEVER);
            }
            Map<String, String> receipts = new HashMap<>();
            payments.keySet().forEach(payment -> receipts.put(payment, ""));
            other.await("done", receipts);
            compare(process, payments, receipts, jdbc);
        }

        /** Compares the rows that are left with the receipts that both applications gave. */
        private synchronized void compare(
                KilledApplicationProcess process,
                Map<String, String> payments,
                Map<String, String> receipts,
                JdbcTemplate jdbc)
                throws IOException {
            Map<String, String> answers = process.answers();
            killed++;
            for (Map.Entry<String, String> payment : payments.entrySet()) {
                String receipt = receipts.get(payment.getKey());
                String answer = answers.getOrDefault(payment.getKey(), receipt);
                List<String> effects = jdbc.queryForList(
                        "SELECT attempt FROM killed_payments WHERE id = ?", String.class, payment.getKey());
                List<String> results = jdbc.queryForList(
                        "SELECT result FROM holdfast_once WHERE name = ? AND done = 1",
                        String.class,
                        "killed:" + payment.getKey());
                boolean agree = effects.contains(receipt)
                        && answer.equals(receipt)
                        && results.size() == 1
                        && results.get(0).contains("\"" + receipt + "\"");
                calls++;
                doubled += effects.size() > 1 ? 1 : 0;
                lost += effects.isEmpty() ? 1 : 0;
                wrong += effects.size() == 1 && !agree ? 1 : 0;
                if (effects.size() != 1 || !agree) {
                    found.append("\n  ").append(payment).append(": effects ").append(effects);
                    found.append(", results ")
                            .append(results)
                            .append(", answer ")
                            .append(answer);
                    found.append(", receipt ").append(receipt);
                }
                int[] counts = ends.computeIfAbsent(payment.getValue(), unused -> new int[2]);
                counts[0]++;
                if (receipt.startsWith(process.pid() + "-")) {
                    counts[1]++;
                    committed++;
                }
            }
        }

        @Override
        public synchronized String toString() {
            StringBuilder story = new StringBuilder(killed + " applications were killed in " + calls
                    + " calls, of which they had committed " + committed + "; " + doubled + " effects doubled, " + lost
                    + " lost, " + wrong + " with another result");
            ends.forEach((step, counts) -> story.append("\n  ")
                    .append(step)
                    .append(": ")
                    .append(counts[0])
                    .append(", of these committed ")
                    .append(counts[1]));
            return story.append(found).toString();
        }
    }
}
