package io.holdfast.spring.web;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.Lease;
import io.holdfast.LockClient;
import io.holdfast.LockStoreException;
import io.holdfast.OnceConflictException;
import io.holdfast.spring.Locked;
import io.holdfast.spring.LogLines;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.support.StaticMessageSource;
import org.springframework.web.bind.annotation.ControllerAdvice;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.ResponseBody;
import org.springframework.web.bind.annotation.RestController;
import reactor.core.publisher.Mono;

/** What callers get over HTTP from running applications whose locks are busy, lost, or cannot be asked for. */
class HttpTest {

    public static class Refunds {

        @Locked(name = "order.refund", key = "#order", waitTime = "0")
        public String refund(String order) {
            return "refunded " + order;
        }

        @Locked(name = "order.later", key = "#order", waitTime = "0")
        public Mono<String> later(String order) {
            return Mono.just("refunded " + order);
        }

        /** Loses its own lease by force. */
        @Locked(name = "order.lost", key = "#order")
        public String lost(String order, LockClient client, @Nullable Lease lease) {
            assertThat(client.forceRelease(lease.name())).isTrue();
            return "refunded " + order;
        }
    }

    @RestController
    static class Controller {

        private final Refunds refunds;
        private final LockClient client;

        Controller(Refunds refunds, LockClient client) {
            this.refunds = refunds;
            this.client = client;
        }

        @GetMapping("/refund/{order}")
        String refund(@PathVariable("order") String order) {
            return refunds.refund(order);
        }

        @GetMapping("/later/{order}")
        Mono<String> later(@PathVariable("order") String order) {
            return refunds.later(order);
        }

        @GetMapping("/lost/{order}")
        String lost(@PathVariable("order") String order) {
            return refunds.lost(order, client, null);
        }

        @GetMapping("/fault")
        String fault() {
            throw new LockStoreException("redis://10.0.0.7:6379 does not answer", "redis://10.0.0.7:6379", null);
        }

        @GetMapping("/conflict")
        String conflict() {
            throw new OnceConflictException("The key \"order.once:17\" was used with another fingerprint");
        }

        @GetMapping("/wrapped")
        String wrapped() {
            throw new IllegalStateException(new LockStoreException("no answer", "redis://10.0.0.7:6379", null));
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class Application {

        @Bean
        Refunds refunds() {
            return new Refunds();
        }

        @Bean
        Controller controller(Refunds refunds, LockClient client) {
            return new Controller(refunds, client);
        }
    }

    @ControllerAdvice
    static class Own {

        @ExceptionHandler
        @ResponseBody
        String any(Exception e) {
            return "own handler: " + e.getClass().getSimpleName();
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class OwnAdvice {

        @Bean
        Own own() {
            return new Own();
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class OwnMessages {

        @Bean
        StaticMessageSource messageSource() {
            StaticMessageSource messages = new StaticMessageSource();
            messages.addMessage(
                    "problemDetail.title.io.holdfast.LockTimeoutException", Locale.GERMAN, "Gerade in Arbeit");
            messages.addMessage(
                    "problemDetail.io.holdfast.LockTimeoutException", Locale.GERMAN, "Bitte noch einmal versuchen.");
            return messages;
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"SERVLET", "REACTIVE"})
    void a_busy_lock_is_409_and_a_fault_503_as_problem_details(WebApplicationType type) throws Exception {
        try (ConfigurableApplicationContext context = start(type, List.of(Application.class))) {
            assertThat(get(context, "/refund/17").body()).isEqualTo("refunded 17");
            LockClient locks = context.getBean(LockClient.class);
            try (Lease held = locks.acquire("order.refund:17");
                    Lease later = locks.acquire("order.later:17")) {
                for (String path : List.of("/refund/17", "/later/17")) {
                    HttpResponse<String> busy = get(context, path);
                    assertThat(busy.statusCode()).isEqualTo(409);
                    assertThat(busy.headers().firstValue("Content-Type"))
                            .hasValueSatisfying(is -> assertThat(is).startsWith("application/problem+json"));
                    assertThat(busy.headers().firstValue("Retry-After")).isEmpty();
                    assertThat(busy.body())
                            .contains("\"status\":409", "\"title\":\"Conflict\"", "Another request is working")
                            .contains("\"instance\":\"" + path + "\"")
                            .doesNotContain("order.refund", "order.later", "trace");
                }
                assertThat(held.isValid() && later.isValid()).isTrue();
            }
            assertThat(get(context, "/refund/17").statusCode()).isEqualTo(200);
            for (String path : List.of("/fault", "/wrapped", "/lost/17")) {
                HttpResponse<String> fault;
                try (LogLines log = new LogLines(LockExceptionAdvice.class)) {
                    fault = get(context, path);
                    assertThat(log.lines())
                            .singleElement()
                            .asString()
                            .startsWith("WARNING A request was answered with 503: GET " + path + ": io.holdfast.");
                }
                assertThat(fault.statusCode()).as(path).isEqualTo(503);
                assertThat(fault.headers().firstValue("Retry-After")).hasValue("5");
                assertThat(fault.body())
                        .contains("\"status\":503", "could not be completed safely")
                        .doesNotContain("10.0.0.7", "order.lost");
            }
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"SERVLET", "REACTIVE"})
    void a_key_that_was_used_for_other_work_is_422(WebApplicationType type) throws Exception {
        try (ConfigurableApplicationContext context = start(type, List.of(Application.class))) {
            HttpResponse<String> conflict = get(context, "/conflict");
            assertThat(conflict.statusCode()).isEqualTo(422);
            assertThat(conflict.headers().firstValue("Retry-After")).isEmpty();
            assertThat(conflict.body())
                    .contains("\"status\":422", "was used for a request with other contents")
                    .doesNotContain("order.once", "trace");
        }
    }

    @Tag("deep") // quick: the test above
    @ParameterizedTest
    @EnumSource(names = {"SERVLET", "REACTIVE"})
    void the_status_the_time_and_the_texts_are_settings(WebApplicationType type) throws Exception {
        try (ConfigurableApplicationContext context = start(
                        type,
                        List.of(Application.class, OwnMessages.class),
                        "holdfast.web.busy-status=429",
                        "holdfast.web.retry-after=1500ms");
                Lease held = context.getBean(LockClient.class).acquire("order.refund:17")) {
            HttpResponse<String> busy = get(context, "/refund/17");
            assertThat(busy.statusCode()).isEqualTo(429);
            assertThat(busy.headers().firstValue("Retry-After")).hasValue("2");
            assertThat(busy.body()).contains("Gerade in Arbeit", "Bitte noch einmal versuchen.");
            assertThat(held.isValid()).isTrue();
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"SERVLET", "REACTIVE"})
    void handlers_of_the_application_come_first_unless_the_order_says_otherwise(WebApplicationType type)
            throws Exception {
        List<Class<?>> application = List.of(Application.class, OwnAdvice.class);
        try (ConfigurableApplicationContext context = start(type, application)) {
            assertThat(get(context, "/fault").body()).isEqualTo("own handler: LockStoreException");
        }
        try (ConfigurableApplicationContext context = start(type, application, "holdfast.web.order=0")) {
            assertThat(get(context, "/fault").statusCode()).isEqualTo(503);
        }
    }

    @Tag("deep") // quick: without_a_web_application_there_is_no_advice
    @ParameterizedTest
    @EnumSource(names = {"SERVLET", "REACTIVE"})
    void it_can_be_switched_off(WebApplicationType type) throws Exception {
        try (ConfigurableApplicationContext context =
                start(type, List.of(Application.class), "holdfast.web.enabled=false")) {
            assertThat(get(context, "/fault").statusCode()).isEqualTo(500);
        }
    }

    @Test
    void without_a_web_application_there_is_no_advice() {
        try (ConfigurableApplicationContext context = start(WebApplicationType.NONE, List.of(Application.class))) {
            assertThat(context.getBeansOfType(LockExceptionAdvice.class)).isEmpty();
        }
    }

    @Test
    void a_status_that_is_no_error_stops_the_start() {
        assertThat(org.assertj.core.api.Assertions.catchThrowable(() ->
                        start(WebApplicationType.SERVLET, List.of(Application.class), "holdfast.web.busy-status=200")))
                .rootCause()
                .hasMessageContaining("holdfast.web.busy-status: 200 (expected: ");
    }

    private static ConfigurableApplicationContext start(
            WebApplicationType type, List<Class<?>> configurations, String... settings) {
        return new SpringApplicationBuilder(configurations.toArray(Class<?>[]::new))
                .web(type)
                .properties("server.port=0", "server.address=127.0.0.1", "holdfast.store=memory:http")
                .properties(settings)
                .run();
    }

    /** Over a connection of its own: Reactor Netty 1.3.7 may not read a second request (its issue 4361). */
    private static HttpResponse<String> get(ConfigurableApplicationContext context, String path) throws Exception {
        String port = context.getEnvironment().getRequiredProperty("local.server.port");
        HttpClient http = HttpClient.newHttpClient();
        return http.send(
                HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path))
                        .timeout(Duration.ofSeconds(30))
                        .header("Accept", "application/json, text/plain")
                        .header("Accept-Language", "de")
                        .build(),
                HttpResponse.BodyHandlers.ofString());
    }
}
