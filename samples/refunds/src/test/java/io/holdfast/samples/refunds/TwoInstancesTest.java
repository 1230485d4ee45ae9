package io.holdfast.samples.refunds;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.Lease;
import io.holdfast.LockClient;
import io.holdfast.testkit.servers.RedisServer;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.springframework.boot.SpringApplication;
import org.springframework.context.ConfigurableApplicationContext;

/** Two instances of the application, one Redis, and everybody presses the button at once. */
class TwoInstancesTest {

    private static final int REQUESTS = 50;

    private final HttpClient http = HttpClient.newHttpClient();

    @Test
    void an_order_is_refunded_once_and_a_report_is_made_once() throws Exception {
        try (RedisServer redis = RedisServer.start();
                ConfigurableApplicationContext one = start(redis);
                ConfigurableApplicationContext other =
                        start(redis, "--management.endpoint.locks.access=unrestricted")) {
            List<String> ports = List.of(port(one), port(other));

            List<String> refunds = hit(ports, "/orders/42/refund");
            assertThat(Collections.frequency(refunds, "refunded")).isEqualTo(1);
            assertThat(Collections.frequency(refunds, "refunded before")).isEqualTo(2 * REQUESTS - 1);
            assertThat(get(ports.get(0), "/orders/42/refunds")).isEqualTo("1");

            List<String> reports = hit(ports, "/sites/7/report/today");
            assertThat(Collections.frequency(reports, "made")).isEqualTo(1);
            assertThat(reports)
                    .allMatch(answer ->
                            List.of("made", "being made", "made before").contains(answer));

            assertThat(get(ports.get(1), "/actuator/health"))
                    .contains("\"locks\":{")
                    .contains("\"status\":\"UP\"");
            assertThat(get(ports.get(1), "/actuator/locks")).contains("\"store\":\"redis://");
            assertThat(get(ports.get(1), "/actuator/metrics/holdfast.lock.acquire"))
                    .contains("order.refund")
                    .doesNotContain("order.refund:42");

            // A lock is released by force only where that was switched on.
            Lease stuck = one.getBean(LockClient.class).acquire("stuck");
            assertThat(delete(ports.get(0), "/actuator/locks/stuck")).isEqualTo(405);
            assertThat(get(ports.get(1), "/actuator/locks/stuck")).contains("\"locked\":true");
            assertThat(delete(ports.get(1), "/actuator/locks/stuck?holder=" + stuck.holderId()))
                    .isEqualTo(200);
            assertThat(get(ports.get(1), "/actuator/locks/stuck")).contains("\"locked\":false");
            assertThat(stuck.name()).isEqualTo("stuck");
        }
    }

    private static ConfigurableApplicationContext start(RedisServer redis, String... more) {
        List<String> args = new ArrayList<>(List.of(
                "--holdfast.test.enabled=false",
                "--server.port=0",
                "--spring.jmx.enabled=false",
                "--logging.level.root=warn",
                "--spring.main.banner-mode=off",
                "--spring.data.redis.url=" + redis.uri()));
        args.addAll(List.of(more));
        return SpringApplication.run(RefundsApplication.class, args.toArray(new String[0]));
    }

    private static String port(ConfigurableApplicationContext instance) {
        return String.valueOf(instance.getEnvironment().getProperty("local.server.port"));
    }

    private List<String> hit(List<String> ports, String path) {
        List<CompletableFuture<HttpResponse<String>>> answers = new ArrayList<>();
        for (int i = 0; i < 2 * REQUESTS; i++) {
            answers.add(http.sendAsync(
                    HttpRequest.newBuilder(uri(ports.get(i % 2), path))
                            .POST(HttpRequest.BodyPublishers.noBody())
                            .build(),
                    HttpResponse.BodyHandlers.ofString()));
        }
        return answers.stream().map(answer -> answer.join().body()).toList();
    }

    private String get(String port, String path) {
        return http.sendAsync(HttpRequest.newBuilder(uri(port, path)).build(), HttpResponse.BodyHandlers.ofString())
                .join()
                .body();
    }

    private int delete(String port, String path) throws Exception {
        return http.send(
                        HttpRequest.newBuilder(uri(port, path)).DELETE().build(),
                        HttpResponse.BodyHandlers.discarding())
                .statusCode();
    }

    private static URI uri(String port, String path) {
        return URI.create("http://127.0.0.1:" + port + path);
    }
}
