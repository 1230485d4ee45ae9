package io.holdfast.samples.quarkus;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.holdfast.LockClient;
import io.holdfast.jdbc.JdbcOnce;
import io.holdfast.testkit.servers.PostgresServer;
import io.holdfast.testkit.servers.RedisServer;
import java.io.IOException;
import java.io.OutputStream;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Two processes of the application that Quarkus has packaged, and a build that it refuses. */
class TwoProcessesTest {

    private static final int REQUESTS = 200;
    private static final Duration LONG = Duration.ofSeconds(60);

    @TempDir
    Path folder;

    private Application start(Path app, String log, RedisServer redis, PostgresServer postgres) throws IOException {
        return Application.start(
                app,
                folder.resolve(log),
                "-Dquarkus.http.port=0",
                "-Dquarkus.http.host=127.0.0.1",
                "-Dquarkus.datasource.jdbc.url=" + postgres.url(),
                "-Dholdfast.store=" + redis.uri(),
                "-Dinvoices.folder=" + folder);
    }

    @Test
    void two_processes_exclude_each_other() throws Exception {
        try (RedisServer redis = RedisServer.start();
                PostgresServer postgres = PostgresServer.start();
                Connection database = DriverManager.getConnection(postgres.url());
                LockClient locks = LockClient.connect(redis.uri())) {
            JdbcOnce.defaults().createTable(database);
            try (Statement statement = database.createStatement()) {
                statement.execute("CREATE TABLE payments (id VARCHAR(40), amount INT)");
            }
            try (Application one = start(Application.BUILT, "one.log", redis, postgres);
                    Application other = start(Application.BUILT, "other.log", redis, postgres)) {
                int[] ports = {one.port(), other.port()};
                locked(ports);
                assertThat(locks.inspect("invoice.number:8").isLocked()).isFalse();
                once(ports, database);

                // Both have fired by now, and fire for longer.
                Path reports = folder.resolve("reports");
                await().atMost(LONG).until(() -> Files.exists(reports));
                await().atMost(LONG)
                        .during(Duration.ofSeconds(3))
                        .until(() -> lines("reports").size() == 1);
                assertThat(locks.inspect("report").isLocked()).isTrue();

                led(one, other);
                assertThat(one.log() + other.log()).doesNotContain("ERROR", "WARN");
            }
        }
    }

    private static void locked(int[] ports) throws Exception {
        assertThat(postAll(ports, REQUESTS, "/sites/7/invoice"))
                .containsExactlyInAnyOrderElementsOf(IntStream.rangeClosed(1, REQUESTS)
                        .mapToObj(String::valueOf)
                        .toList());
        // In the transaction of the caller the lock stays until that has ended.
        assertThat(Application.post(ports[0], "/sites/8/two-invoices").get(60, TimeUnit.SECONDS))
                .isEqualTo("1 and 2, locked");
    }

    private static void once(int[] ports, Connection database) throws Exception {
        assertThat(new HashSet<>(postAll(ports, 50, "/payments/p-1/5")))
                .singleElement()
                .asString()
                .startsWith("{\"id\":\"p-1\",\"amount\":5,\"process\":");
        assertThat(count(database, "payments")).isEqualTo(1);
        assertThat(Application.post(ports[0], "/payments/p-1/6").get(60, TimeUnit.SECONDS))
                .isEqualTo("This was sent with another amount.");
        // A checked exception, at which @Transactional alone would commit.
        assertThat(Application.post(ports[0], "/payments/p-2/-1").get(60, TimeUnit.SECONDS))
                .isEqualTo("The bank refuses the amount");
        assertThat(count(database, "payments")).isEqualTo(1);
        assertThat(count(database, "holdfast_once")).isEqualTo(1);

        String first = charge(ports[0], "c-1", 5).body();
        assertThat(first).startsWith("{\"id\":\"c-1\",\"amount\":5,\"process\":");
        assertThat(charge(ports[1], "c-1", 5).body()).isEqualTo(first);
        assertThat(charge(ports[1], "c-1", 6).statusCode()).isEqualTo(422);
        assertThat(charge(ports[1], "", 5).statusCode()).isEqualTo(400);
        assertThat(count(database, "payments")).isEqualTo(2);

        String meters = Application.get(ports[0], "/q/metrics") + Application.get(ports[1], "/q/metrics");
        assertThat(meters)
                .contains("holdfast_lock_acquire_seconds_count{kind=\"lock\",name=\"payment\",outcome=\"acquired\"}");
        assertThat(Pattern.compile("holdfast_once_calls_total\\{name=\"payment\",outcome=\"done\"} (\\S+)")
                        .matcher(meters)
                        .results()
                        .mapToDouble(found -> Double.parseDouble(found.group(1)))
                        .sum())
                .isEqualTo(2);
    }

    private static HttpResponse<String> charge(int port, String key, int amount) {
        return Application.send(Application.request(port, "/charges")
                        .header("Idempotency-Key", key)
                        .header("Content-Type", "application/json")
                        .POST(HttpRequest.BodyPublishers.ofString("{\"amount\":" + amount + "}")))
                .join();
    }

    /** The leader ends as a platform ends it, and the other process leads. */
    private void led(Application one, Application other) throws Exception {
        await().atMost(LONG)
                .until(() ->
                        Files.exists(folder.resolve("sent")) && !lines("sent").isEmpty());
        String first = lines("sent").get(0);
        boolean oneLeads = first.endsWith(" " + one.pid());
        Application leader = oneLeads ? one : other;
        Application next = oneLeads ? other : one;
        leader.terminate();
        assertThat(leader.awaitEnd()).isEqualTo(143);
        await().atMost(LONG).until(() -> lines("sent").stream().anyMatch(line -> line.endsWith(" " + next.pid())));
        List<String> sent = lines("sent");
        assertThat(sent.stream().map(line -> line.substring(line.indexOf(' '))).distinct())
                .as("no two lead at a time")
                .containsExactly(" " + leader.pid(), " " + next.pid());
        assertThat(sent.stream().map(line -> Long.parseLong(line.substring(0, line.indexOf(' ')))))
                .isSorted();
        next.terminate();
        assertThat(next.awaitEnd()).isEqualTo(143);
    }

    private List<String> lines(String file) throws IOException {
        return Files.readAllLines(folder.resolve(file));
    }

    private static List<String> postAll(int[] ports, int requests, String path) {
        List<CompletableFuture<String>> answers = new ArrayList<>();
        for (int i = 0; i < requests; i++) {
            answers.add(Application.post(ports[i % 2], path));
        }
        return answers.stream().map(CompletableFuture::join).toList();
    }

    static int count(Connection database, String table) throws SQLException {
        try (Statement statement = database.createStatement();
                ResultSet rows = statement.executeQuery("SELECT COUNT(*) FROM " + table)) {
            assertThat(rows.next()).isTrue();
            return rows.getInt(1);
        }
    }

    @Test
    void a_key_that_does_not_fit_ends_the_build() throws Exception {
        Path app = withBeans(WrongKey.class);
        try (Application build = rebuild(app)) {
            assertThat(build.awaitEnd()).isNotZero();
            assertThat(build.log())
                    .contains("@Locked on " + WrongKey.class.getName() + ".refund(long): there is no parameter {order}"
                            + " (expected: {orderId})");
        }
    }

    @Test
    void what_is_intercepted() throws Exception {
        Path app = withBeans(Intercepted.class, Intercepted.class.getDeclaredClasses());
        try (Application build = rebuild(app)) {
            assertThat(build.awaitEnd()).as(build.log()).isZero();
        }
        try (RedisServer redis = RedisServer.start();
                PostgresServer postgres = PostgresServer.start();
                Connection database = DriverManager.getConnection(postgres.url())) {
            JdbcOnce.defaults().createTable(database);
            try (Application application = start(app, "intercepted.log", redis, postgres)) {
                assertThat(application.port()).isPositive();
                assertThat(application.log())
                        .contains("intercepted: inherited [inherited], overridden [], itself [own], stereotype [job]");
            }
        }
    }

    private Application rebuild(Path app) throws IOException {
        return Application.start(app, folder.resolve("build.log"), "-Dquarkus.launch.rebuild=true");
    }

    /** Returns a copy of the application with a jar more, which its next build includes. */
    private Path withBeans(Class<?> bean, Class<?>... nested) throws IOException {
        Path app = folder.resolve("quarkus-app"); // Quarkus looks for this name
        try (Stream<Path> all = Files.walk(Application.BUILT)) {
            for (Path each : all.toList()) {
                Files.copy(each, app.resolve(Application.BUILT.relativize(each).toString()));
            }
        }
        Path providers = Files.createDirectories(app.resolve("providers"));
        try (OutputStream out = Files.newOutputStream(providers.resolve("beans.jar"));
                JarOutputStream jar = new JarOutputStream(out)) {
            jar.putNextEntry(new JarEntry("META-INF/beans.xml"));
            for (Class<?> each :
                    Stream.concat(Stream.of(bean), Arrays.stream(nested)).toList()) {
                String name = each.getName().replace('.', '/') + ".class";
                jar.putNextEntry(new JarEntry(name));
                Files.copy(Path.of("target", "test-classes").resolve(name), jar);
            }
        }
        return app;
    }
}
