package io.holdfast.spring.once;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.Lease;
import io.holdfast.LockClient;
import io.holdfast.jdbc.JdbcOnce;
import io.holdfast.spring.Idempotent;
import io.holdfast.spring.IdempotentRequest;
import io.holdfast.spring.OnceRecord;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.sql.SQLException;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import javax.sql.DataSource;
import org.h2.jdbcx.JdbcDataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.http.ResponseEntity;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RestController;

/** What clients receive over HTTP that repeat a request. */
class IdempotentRequestTest {

    record Payment(String id, int amount) {}

    record Receipt(int number, String id) {}

    private static final AtomicInteger RUNS = new AtomicInteger();
    private static volatile CountDownLatch begun = new CountDownLatch(1);
    private static volatile CountDownLatch gate = new CountDownLatch(1);

    static class Orders {

        @Idempotent(name = "order", key = "#id")
        public int mark(String id, int amount) {
            return amount;
        }
    }

    /** As a generator of code writes it: the annotations are here alone. */
    interface Generated {

        @PostMapping("/generated")
        int generated(@RequestBody Payment payment);
    }

    @RestController
    static class Controller implements Generated {

        private final JdbcTemplate jdbc;
        private final Orders orders;

        Controller(JdbcTemplate jdbc, Orders orders) {
            this.jdbc = jdbc;
            this.orders = orders;
        }

        private int effect(String id) {
            jdbc.update("INSERT INTO effects VALUES (?)", id);
            return RUNS.incrementAndGet();
        }

        @PostMapping("/payments")
        @IdempotentRequest(keepFor = "1d")
        ResponseEntity<Receipt> pay(@RequestBody Payment payment) {
            int number = effect(payment.id());
            return ResponseEntity.created(URI.create("/payments/" + number))
                    .header("Set-Cookie", "a=b")
                    .body(new Receipt(number, payment.id()));
        }

        @PostMapping("/plain")
        @IdempotentRequest
        List<Receipt> plain(@RequestBody Payment payment) {
            return List.of(new Receipt(effect(payment.id()), payment.id()));
        }

        @PostMapping("/fails")
        @IdempotentRequest
        ResponseEntity<String> fails(@RequestBody Payment payment) {
            int number = effect(payment.id());
            return number % 2 == 1 ? ResponseEntity.status(503).body("down") : ResponseEntity.ok("up " + number);
        }

        @PostMapping("/stored")
        @IdempotentRequest(record = OnceRecord.STORE_AT_LEAST_ONCE)
        ResponseEntity<Integer> stored(@RequestBody Payment payment) {
            int number = RUNS.incrementAndGet();
            return ResponseEntity.status(number == 1 ? 503 : 200).body(number);
        }

        @Override
        @IdempotentRequest
        public int generated(Payment payment) {
            return effect(payment.id());
        }

        @PostMapping("/callbacks")
        @Idempotent(name = "callback", key = "#payment.id", waitTime = "0")
        public int callback(@RequestBody Payment payment) {
            return effect(payment.id());
        }

        @PostMapping("/nested")
        @IdempotentRequest
        int nested(@RequestBody Payment payment) {
            return orders.mark(payment.id(), payment.amount());
        }

        @PostMapping("/slow")
        @IdempotentRequest
        int slow(@RequestBody Payment payment) throws InterruptedException {
            begun.countDown();
            assertThat(gate.await(60, TimeUnit.SECONDS)).isTrue();
            return effect(payment.id());
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    @Import({OnceContexts.Transactions.class, Orders.class, Controller.class})
    static class Application {

        @Bean
        DataSource dataSource() throws SQLException {
            JdbcDataSource source = new JdbcDataSource();
            source.setURL("jdbc:h2:mem:requests;DB_CLOSE_DELAY=-1;LOCK_TIMEOUT=20000");
            try (var connection = source.getConnection();
                    var statement = connection.createStatement()) {
                JdbcOnce.defaults().createTable(connection);
                statement.execute("CREATE TABLE IF NOT EXISTS effects (id VARCHAR(100) NOT NULL)");
            }
            return source;
        }
    }

    private final HttpClient client = HttpClient.newHttpClient();
    private final String key = UUID.randomUUID().toString();
    private final String id = UUID.randomUUID().toString();
    private ConfigurableApplicationContext application;

    @BeforeEach
    void start() {
        RUNS.set(0);
        start(Application.class);
    }

    private void start(Class<?>... sources) {
        application = new SpringApplicationBuilder(sources)
                .web(WebApplicationType.SERVLET)
                .properties("server.port=0", "holdfast.store=memory:requests", "spring.main.banner-mode=off")
                .run();
    }

    @AfterEach
    void stop() {
        application.close();
    }

    private HttpRequest request(String path, String body, String... headers) {
        HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(
                        "http://127.0.0.1:" + application.getEnvironment().getProperty("local.server.port") + path))
                .header("Content-Type", "application/json")
                .POST(HttpRequest.BodyPublishers.ofString(body));
        return (headers.length == 0 ? request : request.headers(headers)).build();
    }

    private HttpResponse<String> send(String path, int amount, String... headers) throws Exception {
        String body = "{\"id\": \"" + id + "\", \"amount\": " + amount + "}";
        return client.send(request(path, body, headers), HttpResponse.BodyHandlers.ofString());
    }

    private int effects() {
        return application
                .getBean(JdbcTemplate.class)
                .queryForObject("SELECT COUNT(*) FROM effects WHERE id = ?", Integer.class, id);
    }

    private void refused(HttpResponse<String> response, int status, String detail) {
        assertThat(response.statusCode()).as(response.body()).isEqualTo(status);
        assertThat(response.headers().firstValue("Content-Type").orElse("")).startsWith("application/problem+json");
        assertThat(response.body()).contains("docs/idempotent.md#requests", detail);
    }

    @Test
    void a_repetition_receives_the_stored_answer() throws Exception {
        HttpResponse<String> first = send("/payments", 7, "Idempotency-Key", key);
        assertThat(first.statusCode()).as(first.body()).isEqualTo(201);
        assertThat(first.headers().firstValue("Idempotent-Replayed")).isEmpty();
        assertThat(first.headers().firstValue("Set-Cookie")).contains("a=b");
        HttpResponse<String> second = send("/payments", 7, "Idempotency-Key", '"' + key + '"');
        assertThat(second.statusCode()).isEqualTo(201);
        assertThat(second.body()).isEqualTo(first.body());
        assertThat(second.headers().firstValue("Location")).contains("/payments/1");
        assertThat(second.headers().firstValue("Content-Type"))
                .isEqualTo(first.headers().firstValue("Content-Type"));
        assertThat(second.headers().firstValue("Idempotent-Replayed")).contains("true");
        assertThat(second.headers().firstValue("Set-Cookie")).isEmpty();
        assertThat(effects()).isEqualTo(1);
        // Another path is another scope.
        String plain = send("/plain", 7, "Idempotency-Key", key).body();
        assertThat(plain).contains("\"number\":2");
        assertThat(send("/plain", 7, "Idempotency-Key", key).body()).isEqualTo(plain);
        assertThat(effects()).isEqualTo(2);
    }

    @Test
    void requests_that_are_refused() throws Exception {
        refused(send("/payments", 7), 400, "Idempotency-Key");
        refused(send("/payments", 7, "Idempotency-Key", "\"\""), 400, "Idempotency-Key");
        refused(send("/payments", 7, "Idempotency-Key", "x".repeat(256)), 400, "255");
        refused(send("/payments", 7, "Idempotency-Key", "a", "Idempotency-Key", "b"), 400, "one header");
        assertThat(send("/payments", 7, "Idempotency-Key", key).statusCode()).isEqualTo(201);
        refused(send("/payments", 8, "Idempotency-Key", key), 422, "another request");
        assertThat(effects()).isEqualTo(1);
    }

    @Test
    void a_handler_of_the_application_answers_in_its_own_form() throws Exception {
        stop();
        start(Application.class, Answers.class);
        HttpResponse<String> missing = send("/payments", 7);
        assertThat(missing.statusCode()).isEqualTo(400);
        assertThat(missing.body())
                .startsWith("{\"code\":\"NO_IDEMPOTENCY_KEY\",\"msg\":\"This request needs one header ");
        send("/payments", 7, "Idempotency-Key", key);
        HttpResponse<String> other = send("/payments", 8, "Idempotency-Key", key);
        assertThat(other.statusCode()).isEqualTo(422);
        assertThat(other.body())
                .isEqualTo(
                        "{\"code\":\"KEY_USED_FOR_ANOTHER_REQUEST\",\"msg\":\"The Idempotency-Key of this request was"
                                + " used for another request.\"}");
        HttpResponse<String> callback = send("/callbacks", 7);
        assertThat(callback.statusCode()).as(callback.body()).isEqualTo(200);
        assertThat(send("/callbacks", 8).body())
                .isEqualTo(
                        "{\"code\":\"KEY_USED_FOR_ANOTHER_REQUEST\",\"msg\":\"This was sent with other contents.\"}");
        try (LockClient elsewhere = LockClient.connect("memory:requests");
                Lease held = elsewhere.acquire("callback:" + id)) {
            assertThat(send("/callbacks", 7).body())
                    .isEqualTo("{\"code\":\"STILL_RUNNING\",\"msg\":\"Try again later.\"}");
            assertThat(held.isValid()).isTrue();
        }
        assertThat(effects()).isEqualTo(2);
    }

    /** It was not the key of the request that was used for something else. */
    @Test
    void a_conflict_inside_the_work_is_not_one_of_the_request() throws Exception {
        stop();
        start(Application.class, Answers.class);
        assertThat(send("/nested", 7, "Idempotency-Key", key).body()).isEqualTo("7");
        HttpResponse<String> other = send("/nested", 8, "Idempotency-Key", "another " + key);
        assertThat(other.body())
                .isEqualTo(
                        "{\"code\":\"KEY_USED_FOR_ANOTHER_REQUEST\",\"msg\":\"This was sent with other contents.\"}");
    }

    @Test
    void an_answer_that_says_the_server_failed_leaves_nothing() throws Exception {
        assertThat(send("/fails", 7, "Idempotency-Key", key).statusCode()).isEqualTo(503);
        assertThat(effects()).isZero();
        assertThat(send("/fails", 7, "Idempotency-Key", key).body()).isEqualTo("up 2");
        assertThat(send("/fails", 7, "Idempotency-Key", key).body()).isEqualTo("up 2");
        assertThat(effects()).isEqualTo(1);
    }

    @Test
    void the_record_may_be_in_the_store_of_the_locks() throws Exception {
        assertThat(send("/stored", 7, "Idempotency-Key", key).statusCode()).isEqualTo(503);
        assertThat(send("/stored", 7, "Idempotency-Key", key).body()).isEqualTo("2");
        HttpResponse<String> repeated = send("/stored", 7, "Idempotency-Key", key);
        assertThat(repeated.body()).isEqualTo("2");
        assertThat(repeated.headers().firstValue("Idempotent-Replayed")).contains("true");
        refused(send("/stored", 8, "Idempotency-Key", key), 422, "another request");
    }

    @Test
    void a_body_that_an_interface_declares_is_compared() throws Exception {
        assertThat(send("/generated", 7, "Idempotency-Key", key).body()).isEqualTo("1");
        refused(send("/generated", 8, "Idempotency-Key", key), 422, "another request");
    }

    @Test
    void a_request_that_runs_is_a_conflict() throws Exception {
        begun = new CountDownLatch(1);
        gate = new CountDownLatch(1);
        HttpRequest slow = request("/slow", "{\"id\": \"" + id + "\", \"amount\": 7}", "Idempotency-Key", key);
        CompletableFuture<HttpResponse<String>> first = client.sendAsync(slow, HttpResponse.BodyHandlers.ofString());
        assertThat(begun.await(60, TimeUnit.SECONDS)).isTrue();
        refused(client.send(slow, HttpResponse.BodyHandlers.ofString()), 409, "is running");
        gate.countDown();
        assertThat(first.get(60, TimeUnit.SECONDS).body()).isEqualTo("1");
        assertThat(client.send(slow, HttpResponse.BodyHandlers.ofString()).body())
                .isEqualTo("1");
        assertThat(effects()).isEqualTo(1);
    }
}
