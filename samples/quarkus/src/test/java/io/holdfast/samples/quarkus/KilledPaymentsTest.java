package io.holdfast.samples.quarkus;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.jdbc.JdbcOnce;
import io.holdfast.testkit.servers.PostgresServer;
import io.holdfast.testkit.servers.RedisServer;
import java.io.IOException;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Processes of the application are killed (SIGKILL) at random moments while they book payments, and another process
 * repeats the requests, half of them while the first still run. No payment is doubled, and none is lost.
 *
 * <p>{@code -Dkills=} sets how many processes are killed, four by default; {@code -Dseed=} the moments.
 */
class KilledPaymentsTest {

    private static final int KILLS = Integer.getInteger("kills", 4);
    private static final int REQUESTS = 20;
    private static final int RANDOM_MILLIS = 500;

    private final long seed = Long.getLong("seed", System.nanoTime());
    private final Random random = new Random(seed);

    @TempDir
    Path folder;

    @Test
    void no_payment_is_doubled_and_none_is_lost() throws Exception {
        try (RedisServer redis = RedisServer.start();
                PostgresServer postgres = PostgresServer.start();
                Connection database = DriverManager.getConnection(postgres.url())) {
            JdbcOnce.defaults().createTable(database);
            createSlowTable(database);
            int ofKilled = 0;
            try (Application survivor = start("survivor.log", redis, postgres)) {
                int port = survivor.port();
                for (int i = 0; i < KILLS; i++) {
                    try (Application killed = start("killed" + i + ".log", redis, postgres)) {
                        ofKilled += kill(i, killed, port, database);
                    }
                }
            }
            System.out.println("Quarkus on PostgreSQL, seed " + seed + ": " + KILLS + " processes were killed in "
                    + KILLS * REQUESTS + " requests, of which they had committed " + ofKilled
                    + "; 0 effects doubled, 0 lost");
        }
    }

    /** Each insert takes a while, and so does each commit: a kill finds requests at both. */
    private static void createSlowTable(Connection database) throws SQLException {
        try (Statement statement = database.createStatement()) {
            statement.execute("CREATE TABLE payments (id VARCHAR(40), amount INT)");
            statement.execute("CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS"
                    + " $$ BEGIN PERFORM pg_sleep(random() * 0.1); RETURN NEW; END $$");
            statement.execute("CREATE TRIGGER at_insert AFTER INSERT ON payments FOR EACH ROW EXECUTE FUNCTION slow()");
            statement.execute("CREATE CONSTRAINT TRIGGER at_commit AFTER INSERT ON payments"
                    + " DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION slow()");
        }
    }

    private Application start(String log, RedisServer redis, PostgresServer postgres) throws IOException {
        return Application.start(
                Application.BUILT,
                folder.resolve(log),
                "-Dquarkus.http.port=0",
                "-Dquarkus.http.host=127.0.0.1",
                "-Dquarkus.datasource.jdbc.url=" + postgres.url(),
                "-Dholdfast.store=" + redis.uri(),
                // After a death, its locks are free within this time.
                "-Dholdfast.lease-time=1s",
                "-Dinvoices.folder=" + folder);
    }

    /** Kills a process, and returns how many of its requests it had committed. */
    private int kill(int number, Application killed, int survivor, Connection database) throws Exception {
        int port = killed.port();
        // The first request loads classes, for longer than the others take.
        assertThat(answer(Application.post(port, "/payments/first-" + number + "/5")))
                .contains("\"process\":" + killed.pid());
        Map<String, CompletableFuture<String>> first = new LinkedHashMap<>();
        Map<String, CompletableFuture<String>> repeated = new LinkedHashMap<>();
        for (int i = 0; i < REQUESTS; i++) {
            String path = "/payments/k-" + number + "-" + i + "/5";
            first.put(path, Application.post(port, path));
            if (random.nextBoolean()) {
                repeated.put(path, Application.post(survivor, path));
            }
        }
        TimeUnit.MILLISECONDS.sleep(random.nextInt(RANDOM_MILLIS));
        killed.close();
        first.keySet().forEach(path -> repeated.computeIfAbsent(path, each -> Application.post(survivor, each)));
        int ofKilled = 0;
        for (Map.Entry<String, CompletableFuture<String>> each : repeated.entrySet()) {
            String story = each.getKey() + ", seed " + seed;
            String receipt = answer(each.getValue());
            String id = each.getKey().split("/", -1)[2];
            assertThat(receipt).as(story).startsWith("{\"id\":\"" + id + "\",\"amount\":5,\"process\":");
            CompletableFuture<String> answer = first.get(each.getKey());
            // A request that the dead process did not answer ends with the connection.
            String before =
                    answer.handle((text, why) -> why == null ? text : receipt).get(60, TimeUnit.SECONDS);
            assertThat(before).as(story).isEqualTo(receipt);
            assertThat(TwoProcessesTest.count(database, "payments WHERE id = '" + id + "'"))
                    .as(story)
                    .isEqualTo(1);
            assertThat(TwoProcessesTest.count(
                            database, "holdfast_once WHERE name = 'payment:" + id + "' AND result = '" + receipt + "'"))
                    .as(story)
                    .isEqualTo(1);
            ofKilled += receipt.endsWith(":" + killed.pid() + "}") ? 1 : 0;
        }
        return ofKilled;
    }

    private static String answer(CompletableFuture<String> request) throws Exception {
        return request.get(60, TimeUnit.SECONDS);
    }
}
