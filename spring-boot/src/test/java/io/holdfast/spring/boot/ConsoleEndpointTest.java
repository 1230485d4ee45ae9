package io.holdfast.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.Lease;
import io.holdfast.LockClient;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;

/** The page of all locks under the actuator of a running application. */
@Timeout(60)
class ConsoleEndpointTest {

    private final HttpClient http = HttpClient.newHttpClient();

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class Application {}

    @Test
    void the_page_and_its_events_are_served_with_their_policy_and_it_is_read_only() throws Exception {
        try (ConfigurableApplicationContext context = start("management.endpoints.web.exposure.include=holdfast")) {
            HttpResponse<String> page =
                    http.send(request(context, "", "text/html").build(), HttpResponse.BodyHandlers.ofString());
            assertThat(page.statusCode()).isEqualTo(200);
            assertThat(page.headers().firstValue("Content-Type"))
                    .hasValueSatisfying(type -> assertThat(type).startsWith("text/html"));
            assertThat(page.headers().firstValue("Content-Security-Policy"))
                    .hasValueSatisfying(policy -> assertThat(policy).startsWith("default-src 'none'; "));
            assertThat(page.body()).startsWith("<!DOCTYPE html>");

            LockClient client = context.getBean(LockClient.class);
            Lease lease = client.acquire("nightly");
            try (Events events = new Events(context, "/events?lock=nightly")) {
                assertThat(events.response.headers().firstValue("Content-Type")).hasValue("text/event-stream");
                assertThat(events.response.headers().firstValue("Cache-Control"))
                        .hasValue("no-store");
                assertThat(events.after("event: hello")).contains("\"secret\":null");
                assertThat(events.after("event: picture")).contains("\"name\":\"nightly\",\"holder\":{\"id\":\"hf-");
            }
            String holder = client.inspect("nightly").holder().orElseThrow();
            assertThat(release(context, holder, "guessed", "http://127.0.0.1:1").statusCode())
                    .isEqualTo(405);
            assertThat(lease.isValid()).isTrue();
            lease.release();
        }
    }

    @Test
    void the_page_releases_where_access_is_unrestricted() throws Exception {
        try (ConfigurableApplicationContext context = start(
                "management.endpoints.web.exposure.include=holdfast",
                "management.endpoint.holdfast.access=unrestricted")) {
            LockClient client = context.getBean(LockClient.class);
            Lease lease = client.acquire("nightly");
            String secret;
            try (Events events = new Events(context, "/events")) {
                Matcher matcher = Pattern.compile("\"secret\":\"(.*?)\"").matcher(events.after("event: hello"));
                assertThat(matcher.find()).isTrue();
                secret = matcher.group(1);
            }
            String holder = client.inspect("nightly").holder().orElseThrow();
            String origin = "http://127.0.0.1:" + port(context);
            assertThat(release(context, holder, "guessed", origin).statusCode()).isEqualTo(403);
            assertThat(release(context, holder, secret, "http://evil.example").statusCode())
                    .isEqualTo(403);
            assertThat(lease.isValid()).isTrue();

            HttpResponse<String> released = release(context, holder, secret, origin);
            assertThat(released.body()).isEqualTo("Released");
            assertThat(released.statusCode()).isEqualTo(200);
            assertThat(lease.isValid()).isFalse();
        }
    }

    /** A graceful shutdown waits for requests: for a stream of events it would wait as long as it may. */
    @Test
    @Tag("deep") // quick: the two tests above
    void an_open_page_does_not_delay_the_end_of_the_application() throws Exception {
        ConfigurableApplicationContext context =
                start("management.endpoints.web.exposure.include=holdfast", "server.shutdown=graceful");
        try (Events events = new Events(context, "/events")) {
            events.after("event: picture");
            long began = System.nanoTime();
            context.close();
            assertThat((System.nanoTime() - began) / 1_000_000_000).isLessThan(15);
            assertThat(events.after("the end")).isEmpty();
        } finally {
            context.close();
        }
    }

    @Test
    void a_server_of_its_own_for_the_management_has_the_page() throws Exception {
        try (ConfigurableApplicationContext context =
                        start("management.endpoints.web.exposure.include=holdfast", "management.server.port=0");
                Events events = new Events(context, "/events")) {
            assertThat(events.after("event: picture")).startsWith("data: {\"locks\":[");
        }
    }

    @Test
    void an_application_with_web_flux_starts_without_it() {
        try (ConfigurableApplicationContext context = new SpringApplicationBuilder(Application.class)
                .web(WebApplicationType.REACTIVE)
                .properties("server.port=0", "server.address=127.0.0.1", "holdfast.store=memory:page")
                .properties("management.endpoints.web.exposure.include=holdfast")
                .run()) {
            assertThat(context.getBeansOfType(ConsoleEndpoint.class)).isEmpty();
        }
    }

    @Test
    void nothing_is_there_unless_it_is_exposed() throws Exception {
        try (ConfigurableApplicationContext context = start("management.endpoints.web.exposure.include=health")) {
            assertThat(context.getBeansOfType(ConsoleEndpoint.class)).isEmpty();
            assertThat(http.send(request(context, "", "text/html").build(), HttpResponse.BodyHandlers.ofString())
                            .statusCode())
                    .isEqualTo(404);
        }
    }

    private static ConfigurableApplicationContext start(String... settings) {
        return new SpringApplicationBuilder(Application.class)
                .web(WebApplicationType.SERVLET)
                .properties("server.port=0", "server.address=127.0.0.1", "holdfast.store=memory:page")
                .properties(settings)
                .run();
    }

    private HttpResponse<String> release(
            ConfigurableApplicationContext context, String holder, String secret, String origin) throws Exception {
        return http.send(
                request(context, "/release?name=nightly&holder=" + holder, "*/*")
                        .header("Origin", origin)
                        .header("X-Holdfast-Secret", secret)
                        .POST(HttpRequest.BodyPublishers.noBody())
                        .build(),
                HttpResponse.BodyHandlers.ofString());
    }

    private static HttpRequest.Builder request(ConfigurableApplicationContext context, String path, String accept) {
        return HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port(context) + "/actuator/holdfast" + path))
                .header("Accept", accept);
    }

    private static String port(ConfigurableApplicationContext context) {
        return context.getEnvironment()
                .getProperty(
                        "local.management.port", context.getEnvironment().getRequiredProperty("local.server.port"));
    }

    /** A stream of events, as a browser reads it. */
    private final class Events implements AutoCloseable {

        private final HttpResponse<InputStream> response;
        private final BufferedReader lines;

        Events(ConfigurableApplicationContext context, String path) throws Exception {
            response = http.send(
                    request(context, path, "text/event-stream").build(), HttpResponse.BodyHandlers.ofInputStream());
            assertThat(response.statusCode()).isEqualTo(200);
            lines = new BufferedReader(new InputStreamReader(response.body(), StandardCharsets.UTF_8));
        }

        /** Returns the line after this one; empty if the stream ends before. */
        String after(String wanted) throws Exception {
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                if (line.equals(wanted)) {
                    return lines.readLine();
                }
            }
            return "";
        }

        @Override
        public void close() throws IOException {
            lines.close();
        }
    }
}
