package io.holdfast.spring.once;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.holdfast.LockClient;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.jdbc.core.JdbcTemplate;

/** What clients receive that repeat a request, from a WebFlux application on Reactor Netty. */
@Timeout(120)
class IdempotentExchangeTest {

    private static ConfigurableApplicationContext application;

    private final HttpClient client = HttpClient.newHttpClient();
    private final String key = UUID.randomUUID().toString();
    private final String id = UUID.randomUUID().toString();

    @BeforeAll
    static void start() {
        application = new SpringApplicationBuilder(ExchangeApplication.class)
                .web(WebApplicationType.REACTIVE)
                .properties(
                        "server.port=0",
                        "server.address=127.0.0.1",
                        "holdfast.store=memory:exchanges",
                        "spring.main.banner-mode=off")
                .run();
    }

    @AfterAll
    static void stop() {
        application.close();
    }

    @BeforeEach
    void reset() {
        ExchangeApplication.RUNS.set(0);
        ExchangeApplication.begun = new CountDownLatch(1);
        ExchangeApplication.gate = new CompletableFuture<>();
        ExchangeApplication.gone = new CountDownLatch(1);
        ExchangeApplication.left = new CompletableFuture<>();
    }

    private static int port() {
        return Integer.parseInt(application.getEnvironment().getProperty("local.server.port"));
    }

    private String body(int amount) {
        return "{\"id\": \"" + id + "\", \"amount\": " + amount + "}";
    }

    private static HttpRequest request(String path, String type, String body, String... headers) {
        HttpRequest.Builder request = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port() + path))
                .header("Content-Type", type)
                .POST(HttpRequest.BodyPublishers.ofString(body));
        return (headers.length == 0 ? request : request.headers(headers)).build();
    }

    private CompletableFuture<HttpResponse<String>> sendAsync(String path, int amount, String... headers) {
        return client.sendAsync(
                request(path, "application/json", body(amount), headers), HttpResponse.BodyHandlers.ofString());
    }

    private HttpResponse<String> send(String path, int amount, String... headers) throws Exception {
        return sendAsync(path, amount, headers).get(60, TimeUnit.SECONDS);
    }

    private HttpResponse<String> sendKeyed(String path, int amount) throws Exception {
        return send(path, amount, "Idempotency-Key", key);
    }

    private int effects() {
        return application
                .getBean(JdbcTemplate.class)
                .queryForObject("SELECT COUNT(*) FROM effects WHERE id = ?", Integer.class, id);
    }

    private static boolean isReplayed(HttpResponse<?> response) {
        return response.headers()
                .firstValue("Idempotent-Replayed")
                .filter("true"::equals)
                .isPresent();
    }

    private static void refused(HttpResponse<String> response, int status, String detail) {
        assertThat(response.statusCode()).as(response.body()).isEqualTo(status);
        assertThat(response.headers().firstValue("Content-Type").orElse("")).startsWith("application/problem+json");
        assertThat(response.body()).contains("docs/idempotent.md#requests", detail);
    }

    @ParameterizedTest
    @ValueSource(strings = {"/payments", "/stored"})
    void three_equal_requests_at_once_are_done_once(String path) throws Exception {
        List<CompletableFuture<HttpResponse<String>>> sent = IntStream.range(0, 3)
                .mapToObj(each -> sendAsync(path, 7, "Idempotency-Key", key))
                .toList();
        for (CompletableFuture<HttpResponse<String>> each : sent) {
            HttpResponse<String> response = each.get(60, TimeUnit.SECONDS);
            assertThat(response.statusCode()).as(response.body()).isEqualTo(201);
            assertThat(response.body()).isEqualTo("{\"number\":1,\"id\":\"" + id + "\"}");
            assertThat(response.headers().firstValue("Location")).contains("/payments/1");
            assertThat(response.headers().firstValue("Content-Type")).contains("application/json");
            assertThat(response.headers().firstValue("Set-Cookie").isPresent()).isNotEqualTo(isReplayed(response));
        }
        assertThat(sent.stream().filter(each -> isReplayed(each.join()))).hasSize(2);
        assertThat(ExchangeApplication.RUNS).hasValue(1);
        assertThat(effects()).isEqualTo(path.equals("/payments") ? 1 : 0);
    }

    @ParameterizedTest
    @ValueSource(strings = {"/payments", "/stored"})
    void requests_that_are_refused(String path) throws Exception {
        refused(send(path, 7), 400, "one header Idempotency-Key");
        refused(send(path, 7, "Idempotency-Key", "\"\""), 400, "one header");
        refused(send(path, 7, "Idempotency-Key", "a", "Idempotency-Key", "b"), 400, "one header");
        assertThat(sendKeyed(path, 7).statusCode()).isEqualTo(201);
        refused(sendKeyed(path, 8), 422, "another request");
        refused(sendKeyed(path + "?more=1", 7), 422, "another request");
        assertThat(ExchangeApplication.RUNS).hasValue(1);
    }

    /** There is one event loop: a call that waited on it would stop the second request, and the gate. */
    @ParameterizedTest
    @ValueSource(strings = {"/slow-payments", "/slow-stored"})
    void a_request_that_runs_is_a_conflict(String path) throws Exception {
        CompletableFuture<HttpResponse<String>> first = sendAsync(path, 7, "Idempotency-Key", key);
        assertThat(ExchangeApplication.begun.await(60, TimeUnit.SECONDS)).isTrue();
        refused(sendKeyed(path, 7), 409, "is running");
        ExchangeApplication.gate.complete(true);
        assertThat(first.get(60, TimeUnit.SECONDS).body()).contains("\"number\":1");
        HttpResponse<String> again = sendKeyed(path, 7);
        assertThat(again.body()).contains("\"number\":1");
        assertThat(isReplayed(again)).isTrue();
    }

    @ParameterizedTest
    @CsvSource({"/failing-payments, 500", "/failing-payments, 503", "/failing-stored, 500", "/failing-stored, 503"})
    void a_failure_leaves_nothing(String path, int how) throws Exception {
        assertThat(sendKeyed(path, how).statusCode()).isEqualTo(how);
        assertThat(effects()).isZero();
        HttpResponse<String> second = sendKeyed(path, how);
        assertThat(second.body()).contains("\"number\":2");
        assertThat(isReplayed(second)).isFalse();
        assertThat(isReplayed(sendKeyed(path, how))).isTrue();
        assertThat(effects()).isEqualTo(path.equals("/failing-payments") ? 1 : 0);
    }

    @ParameterizedTest
    @ValueSource(strings = {"/slow-payments", "/slow-stored"})
    void a_client_that_goes_away_finds_the_answer_when_it_comes_back(String path) throws Exception {
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port())) {
            socket.getOutputStream().write(raw(path, body(7)));
            assertThat(ExchangeApplication.begun.await(60, TimeUnit.SECONDS)).isTrue();
        }
        // Reactor Netty 1.2 (Boot 3.5) does not always notice the end of a connection before it writes.
        ExchangeApplication.left.complete(true);
        assertThat(ExchangeApplication.gone.await(60, TimeUnit.SECONDS)).isTrue();
        refused(sendKeyed(path, 7), 409, "is running");
        assertThat(ExchangeApplication.RUNS).hasValue(0);
        ExchangeApplication.gate.complete(true);
        await().until(() -> application.getBean(LockClient.class).localLocks().isEmpty());
        HttpResponse<String> again = sendKeyed(path, 7);
        assertThat(again.body()).contains("\"number\":1");
        assertThat(isReplayed(again)).isTrue();
        assertThat(ExchangeApplication.RUNS).hasValue(1);
    }

    private byte[] raw(String path, String body) throws IOException {
        return ("POST " + path
                        + " HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nLeaves: 1\r\nIdempotency-Key: "
                        + key + "\r\nContent-Length: " + body.length() + "\r\n\r\n" + body)
                .getBytes(StandardCharsets.UTF_8);
    }

    @Test
    void a_lock_that_is_lost_during_the_work_refuses_the_commit() throws Exception {
        assertThat(sendKeyed("/losing", 7).statusCode()).isEqualTo(503);
        assertThat(effects()).isZero();
        assertThat(sendKeyed("/losing", 7).body()).contains("\"number\":2");
        assertThat(effects()).isEqualTo(1);
    }

    /** The effect was committed by a transaction of its own, or by none. */
    @Test
    void work_that_leaves_the_thread_of_the_transaction_fails() throws Exception {
        assertThat(sendKeyed("/elsewhere", 7).statusCode()).isEqualTo(500);
        HttpResponse<String> second = sendKeyed("/elsewhere", 7);
        assertThat(second.statusCode()).isEqualTo(500);
        assertThat(isReplayed(second)).isFalse();
    }

    @Test
    void a_body_that_an_interface_declares_is_compared() throws Exception {
        assertThat(sendKeyed("/generated", 7).body()).contains("\"number\":1");
        refused(sendKeyed("/generated", 8), 422, "another request");
    }

    @Test
    void a_form_is_compared() throws Exception {
        assertThat(form("amount=7").body()).contains("\"number\":1");
        assertThat(isReplayed(form("amount=7"))).isTrue();
        refused(form("amount=8"), 422, "another request");
    }

    private HttpResponse<String> form(String fields) throws Exception {
        return client.send(
                request(
                        "/form",
                        "application/x-www-form-urlencoded",
                        "id=" + id + "&" + fields,
                        "Idempotency-Key",
                        key),
                HttpResponse.BodyHandlers.ofString());
    }

    @Test
    void two_users_with_one_key_do_not_meet() throws Exception {
        assertThat(send("/user", 7, "Idempotency-Key", key, "User", "ann").body())
                .isEqualTo("ann1");
        assertThat(send("/user", 7, "Idempotency-Key", key, "User", "bob").body())
                .isEqualTo("bob2");
        assertThat(send("/user", 7, "Idempotency-Key", key, "User", "ann").body())
                .isEqualTo("ann1");
    }

    @Test
    void a_locked_controller_lets_one_in_at_a_time() throws Exception {
        List<CompletableFuture<HttpResponse<String>>> sent =
                IntStream.range(0, 5).mapToObj(each -> sendAsync("/locked", 7)).toList();
        for (CompletableFuture<HttpResponse<String>> each : sent) {
            assertThat(each.get(60, TimeUnit.SECONDS).body()).isEqualTo("1");
        }
        try (LockClient elsewhere = LockClient.connect("memory:exchanges");
                var held = elsewhere.acquire("locked:" + id)) {
            HttpResponse<String> busy = send("/impatient", 7);
            assertThat(busy.statusCode()).isEqualTo(409);
            assertThat(busy.body()).contains("Another request is working on the same");
            assertThat(held.isValid()).isTrue();
        }
        assertThat(send("/impatient", 7).body()).isEqualTo("ran");
    }
}
