package io.holdfast.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.testkit.servers.ChildJvm;
import java.io.BufferedReader;
import java.io.IOException;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Random;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Processes are killed at random moments of their work (SIGKILL), and the next process repeats the last key. No effect
 * is doubled, none is lost, and each stored result is the one of the effect that counts. {@code -Dkills=} sets how many
 * are killed, 20 by default; {@code -Dseed=} the moments.
 */
@Tag("deep") // quick: JdbcOnceTest, a_crash_before_the_commit_leaves_nothing
class KilledProcessTest {

    private static final int KILLS = Integer.getInteger("kills", 20);

    private final String run = UUID.randomUUID().toString();

    @ParameterizedTest
    @EnumSource(names = "H2", mode = EnumSource.Mode.EXCLUDE)
    void no_effect_is_doubled_and_none_is_lost(Database database) throws Exception {
        long seed = Long.getLong("seed", System.nanoTime());
        Random random = new Random(seed);
        try (Connection connection = database.connect()) {
            JdbcOnce.defaults().createTable(connection);
            Database.execute(
                    connection,
                    "CREATE TABLE IF NOT EXISTS killed_effects (id VARCHAR(100) NOT NULL, attempt VARCHAR(36) NOT NULL)");
        }
        int done = -1;
        for (int i = 0; i < KILLS; i++) {
            done = Math.max(done, kill(database.url(), done + 1, random));
        }
        try (Connection connection = database.connect()) {
            // The last process may have committed one key more than it said.
            int committed = number(connection, "SELECT COUNT(*) FROM killed_effects WHERE id LIKE '" + run + ":%'");
            int once =
                    number(connection, "SELECT COUNT(DISTINCT id) FROM killed_effects WHERE id LIKE '" + run + ":%'");
            int kept = number(
                    connection,
                    "SELECT COUNT(*) FROM killed_effects e JOIN holdfast_once o ON o.name = e.id"
                            + " AND o.result = e.attempt AND o.done = 1 WHERE e.id LIKE '" + run + ":%'");
            String story =
                    database + ", seed " + seed + ": " + KILLS + " kills, " + (done + 1) + " keys were said to be"
                            + " done, " + committed + " effects of " + once + " keys, " + kept + " with their results";
            System.out.println(story);
            assertThat(done).as(story).isPositive();
            assertThat(once).as(story).isEqualTo(committed);
            assertThat(committed).as(story).isBetween(done + 1, done + 2);
            assertThat(kept).as(story).isEqualTo(committed);
        }
    }

    /** Runs a process from this key on, kills it, and returns the last key that it said to be done; -1 if none. */
    private int kill(String url, int first, Random random) throws Exception {
        Process process = ChildJvm.command(KilledWorker.class.getName(), url, run, Integer.toString(first))
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        try (BufferedReader output = process.inputReader()) {
            CompletableFuture<Integer> last = new CompletableFuture<>();
            CompletableFuture<Void> begun = new CompletableFuture<>();
            Thread reader = new Thread(() -> read(output, begun, last));
            reader.setDaemon(true);
            reader.start();
            begun.get(120, TimeUnit.SECONDS);
            TimeUnit.MICROSECONDS.sleep(random.nextInt(50_000));
            // By its handle: Process.destroyForcibly closes the output, too.
            assertThat(process.toHandle().destroyForcibly()).isTrue();
            assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
            assertThat(process.exitValue()).isNotEqualTo(KilledWorker.FAILED);
            return last.get(60, TimeUnit.SECONDS);
        } finally {
            process.destroyForcibly();
        }
    }

    private static void read(BufferedReader output, CompletableFuture<Void> begun, CompletableFuture<Integer> last) {
        int done = -1;
        try {
            for (String line = output.readLine(); line != null; line = output.readLine()) {
                // The last line may be cut off where the process ended.
                if (line.matches("done \\d+\\.")) {
                    begun.complete(null);
                    done = Integer.parseInt(line.substring("done ".length(), line.length() - 1));
                }
            }
            begun.completeExceptionally(new IllegalStateException("The process ended before it was killed"));
            last.complete(done);
        } catch (IOException | RuntimeException e) {
            begun.completeExceptionally(e);
            last.completeExceptionally(e);
        }
    }

    private static int number(Connection connection, String query) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery(query)) {
            assertThat(rows.next()).isTrue();
            return rows.getInt(1);
        }
    }
}
