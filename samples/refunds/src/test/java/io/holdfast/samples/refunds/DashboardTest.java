package io.holdfast.samples.refunds;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assumptions.assumeThat;
import static org.awaitility.Awaitility.await;

import io.holdfast.Lease;
import io.holdfast.LockClient;
import io.holdfast.LockStoreException;
import io.holdfast.OnceOutcome;
import io.holdfast.micrometer.HoldfastMetrics;
import io.holdfast.testkit.servers.FreePort;
import io.holdfast.testkit.servers.RedisServer;
import java.io.File;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.SpringApplication;
import org.springframework.context.ConfigurableApplicationContext;
import org.yaml.snakeyaml.Yaml;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * A Prometheus scrapes two instances of the application in a real run with a failure of Redis. It answers each query of
 * the dashboard with numbers, and evaluates the alerts. Skipped without a {@code prometheus} on the PATH.
 */
@Tag("deep") // quick: MetersInFilesTest of micrometer compares the names
class DashboardTest {

    private static final Path KIT = Path.of("..", "operations").toAbsolutePath().normalize();

    private final HttpClient http = HttpClient.newHttpClient();
    private final JsonMapper json = new JsonMapper();
    private final AtomicBoolean over = new AtomicBoolean();
    private final List<AutoCloseable> started = new ArrayList<>();
    private String prometheus = "";

    @AfterEach
    void stop() throws Exception {
        over.set(true);
        for (int i = started.size() - 1; i >= 0; i--) {
            started.get(i).close();
        }
    }

    @Test
    void each_panel_shows_numbers_of_a_real_run(@TempDir Path folder) throws Exception {
        assumeThat(Stream.of(System.getenv("PATH").split(File.pathSeparator))
                        .map(part -> Path.of(part, "prometheus"))
                        .anyMatch(Files::isExecutable))
                .isTrue();
        RedisServer redis = RedisServer.start();
        started.add(redis);
        ConfigurableApplicationContext one = start(redis);
        ConfigurableApplicationContext other = start(redis);
        LockClient locks = one.getBean(LockClient.class);
        started.add(locks.leadership("outbox", term -> {}));
        started.add(other.getBean(LockClient.class).leadership("outbox", term -> {}));
        one.getBean(HoldfastMetrics.class).once("payment:1", OnceOutcome.DONE); // there is no database
        scrape(folder, port(one), port(other));
        use(port(one), port(other));

        // The counter of losses has to be scraped at zero before.
        Lease held = locks.acquire("held");
        awaitNumbers("sum(holdfast_lease_lost_leases_total)");
        assertThat(held.isValid()).isTrue();
        redis.kill();
        assertThatThrownBy(() -> locks.tryAcquire("other", Duration.ofMillis(200)))
                .isInstanceOf(LockStoreException.class);
        redis.restart();

        JsonNode dashboard = json.readTree(KIT.resolve("grafana-dashboard.json"));
        assertThat(values("job", "holdfast_renewal_lag_seconds")).containsExactly("refunds");
        assertThat(values("name", "holdfast_lock_active_leases")).contains("order.refund", "report_data");
        int queries = 0;
        for (JsonNode panel : dashboard.get("panels")) {
            for (JsonNode target : panel.path("targets")) {
                awaitNumbers(target.get("expr")
                        .asString()
                        .replace("$job", "refunds")
                        .replace("$name", ".*")
                        .replace("$__rate_interval", "10s"));
                queries++;
            }
        }
        assertThat(queries).isGreaterThan(20);

        await().atMost(Duration.ofMinutes(1)).untilAsserted(() -> {
            JsonNode rules = ask("/api/v1/rules").at("/data/groups/0/rules");
            assertThat(rules.size()).isEqualTo(7);
            for (JsonNode rule : rules) {
                assertThat(rule.get("health").asString()).as(rule.toString()).isEqualTo("ok");
            }
            assertThat(rules.get(0).get("name").asString()).isEqualTo("HoldfastLeaseLost");
            assertThat(rules.get(0).get("state").asString()).isEqualTo("firing");
        });
    }

    private ConfigurableApplicationContext start(RedisServer redis) {
        ConfigurableApplicationContext app = SpringApplication.run(
                RefundsApplication.class,
                "--holdfast.test.enabled=false",
                "--holdfast.lease-time=3s",
                "--server.port=0",
                "--spring.jmx.enabled=false",
                "--logging.level.root=off",
                "--spring.main.banner-mode=off",
                "--spring.data.redis.url=" + redis.uri());
        started.add(app);
        return app;
    }

    private static String port(ConfigurableApplicationContext instance) {
        return String.valueOf(instance.getEnvironment().getProperty("local.server.port"));
    }

    /** Starts a Prometheus with the files of the kit, but for the names of the instances and the interval. */
    @SuppressWarnings("unchecked")
    private void scrape(Path folder, String... ports) throws Exception {
        Map<String, Object> settings = new Yaml().load(Files.readString(KIT.resolve("prometheus.yaml")));
        settings.put("global", Map.of("scrape_interval", "1s", "evaluation_interval", "1s"));
        settings.put("rule_files", List.of(KIT.resolve("alerts.yaml").toString()));
        Map<String, Object> job = ((List<Map<String, Object>>) settings.get("scrape_configs")).get(0);
        job.remove("dns_sd_configs");
        job.put(
                "static_configs",
                List.of(Map.of(
                        "targets",
                        Stream.of(ports).map(port -> "127.0.0.1:" + port).toList())));
        Path file = Files.writeString(folder.resolve("prometheus.yaml"), new Yaml().dump(settings));
        int port = FreePort.next();
        Process process = new ProcessBuilder(
                        "prometheus",
                        "--config.file=" + file,
                        "--storage.tsdb.path=" + folder.resolve("data"),
                        "--web.listen-address=127.0.0.1:" + port)
                .redirectErrorStream(true)
                .redirectOutput(folder.resolve("log").toFile())
                .start();
        started.add(() -> process.destroyForcibly().waitFor());
        prometheus = "http://127.0.0.1:" + port;
    }

    /** Presses the buttons of both instances at once, again and again, until the test is over. */
    private void use(String... ports) {
        Thread user = new Thread(() -> {
            for (int i = 0; !over.get(); i++) {
                for (String path : List.of("/orders/1/refund", "/orders/1/refund", "/sites/" + i + "/report/today")) {
                    for (String port : ports) {
                        var unused = http.sendAsync(
                                HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path))
                                        .POST(HttpRequest.BodyPublishers.noBody())
                                        .build(),
                                HttpResponse.BodyHandlers.discarding());
                    }
                }
                try {
                    Thread.sleep(50);
                } catch (InterruptedException e) {
                    return;
                }
            }
        });
        user.start();
        started.add(() -> user.join());
    }

    /** Waits until the query has a result with a number. A mean is none while nothing was counted. */
    private void awaitNumbers(String query) {
        await().atMost(Duration.ofMinutes(1))
                .pollInterval(Duration.ofMillis(200))
                .untilAsserted(() -> {
                    JsonNode results = ask("/api/v1/query?query=" + URLEncoder.encode(query, StandardCharsets.UTF_8))
                            .at("/data/result");
                    assertThat(results.size()).as(query).isPositive();
                    assertThat(results.findValues("value").stream()
                                    .map(value -> value.get(1).asString()))
                            .as(query)
                            .anyMatch(value -> Double.isFinite(Double.parseDouble(value)));
                });
    }

    /** Returns what a variable of the dashboard offers: the values of a label of a meter. */
    private List<String> values(String label, String meter) throws Exception {
        List<String> values = new ArrayList<>();
        ask("/api/v1/label/" + label + "/values?match[]=" + meter)
                .get("data")
                .forEach(value -> values.add(value.asString()));
        return values;
    }

    private JsonNode ask(String path) throws Exception {
        HttpResponse<String> answer = http.send(
                HttpRequest.newBuilder(
                                URI.create(prometheus + path.replace("[", "%5B").replace("]", "%5D")))
                        .build(),
                HttpResponse.BodyHandlers.ofString());
        assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
        return json.readTree(answer.body());
    }
}
