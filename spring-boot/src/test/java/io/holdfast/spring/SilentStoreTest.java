package io.holdfast.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.LockClient;
import io.holdfast.LockOptions;
import io.holdfast.LockStoreException;
import io.holdfast.LockTimeoutException;
import io.holdfast.spring.web.LockExceptionAdvice;
import io.holdfast.testkit.servers.RedisServer;
import java.lang.reflect.Method;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;
import reactor.core.publisher.Mono;

/** A Redis that hangs for longer than the wait: nobody holds the lock, so nothing that is meant for a busy lock runs. */
class SilentStoreTest {

    private static final List<String> RAN = new CopyOnWriteArrayList<>();

    private RedisServer server;
    private ConfigurableApplicationContext context;

    public static class Handler implements LockFailureHandler {

        @Override
        public @Nullable Object handle(Method method, @Nullable Object[] arguments, LockTimeoutException failure) {
            RAN.add("handler");
            return "handled";
        }
    }

    public static class Jobs {

        @Locked(name = "job", waitTime = "300ms", onBusy = OnBusy.SKIP)
        public @Nullable String skipped() {
            return "ran";
        }

        @Locked(name = "job", waitTime = "300ms", onBusy = OnBusy.SKIP)
        public Mono<String> skippedLater() {
            return Mono.just("ran");
        }

        @Locked(name = "job", waitTime = "300ms", onBusy = OnBusy.SKIP)
        public CompletableFuture<String> skippedStage() {
            return CompletableFuture.completedFuture("ran");
        }

        @Locked(name = "job", waitTime = "300ms", fallback = "instead")
        public String withFallback() {
            return "ran";
        }

        @SuppressWarnings("unused") // by name
        public String instead() {
            RAN.add("fallback");
            return "instead";
        }

        @Locked(name = "job", waitTime = "300ms", failureHandler = Handler.class)
        public String withHandler() {
            return "ran";
        }

        @Locked(name = "job", waitTime = "300ms")
        public String thrown() {
            return "ran";
        }
    }

    @RestController
    static class Controller {

        private final Jobs jobs;

        Controller(Jobs jobs) {
            this.jobs = jobs;
        }

        @GetMapping("/job")
        String job() {
            return jobs.thrown();
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class Application {

        @Bean
        Jobs jobs() {
            return new Jobs();
        }

        @Bean
        Handler handler() {
            return new Handler();
        }

        @Bean
        Controller controller(Jobs jobs) {
            return new Controller(jobs);
        }
    }

    @BeforeEach
    void hang() throws InterruptedException {
        RAN.clear();
        server = RedisServer.start();
        context = new SpringApplicationBuilder(Application.class)
                .web(WebApplicationType.SERVLET)
                .properties("server.port=0", "server.address=127.0.0.1", "holdfast.store=" + server.uri())
                .run();
        context.getBean(LockClient.class).acquire("job").release();
        server.pause();
    }

    @AfterEach
    void close() {
        server.resume();
        context.close();
        server.close();
    }

    @Test
    void nothing_is_skipped_and_neither_fallback_nor_handler_runs() {
        Jobs jobs = context.getBean(Jobs.class);
        LockTemplate template = context.getBean(LockTemplate.class);
        assertThatThrownBy(jobs::skipped).isInstanceOf(LockStoreException.class);
        assertThatThrownBy(() -> jobs.skippedLater().block()).isInstanceOf(LockStoreException.class);
        assertThatThrownBy(() -> jobs.skippedStage().join())
                .isInstanceOf(CompletionException.class)
                .hasCauseInstanceOf(LockStoreException.class);
        assertThatThrownBy(jobs::withFallback).isInstanceOf(LockStoreException.class);
        assertThatThrownBy(jobs::withHandler).isInstanceOf(LockStoreException.class);
        assertThatThrownBy(() -> template.executeWithoutResult(
                        "job", LockOptions.defaults().waitAtMost(Duration.ofMillis(300)), lease -> RAN.add("template")))
                .isInstanceOf(LockStoreException.class);
        assertThat(RAN).isEmpty();
    }

    @Test
    void a_request_is_answered_with_503_and_one_warning() throws Exception {
        try (LogLines log = new LogLines(LockExceptionAdvice.class)) {
            String port = context.getEnvironment().getRequiredProperty("local.server.port");
            HttpResponse<String> answer = HttpClient.newHttpClient()
                    .send(
                            HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + "/job"))
                                    .timeout(Duration.ofSeconds(30))
                                    .build(),
                            HttpResponse.BodyHandlers.ofString());
            assertThat(answer.statusCode()).isEqualTo(503);
            assertThat(answer.headers().firstValue("Retry-After")).isPresent();
            assertThat(answer.body()).doesNotContain("Another request");
            assertThat(log.lines())
                    .singleElement()
                    .asString()
                    .startsWith("WARNING ")
                    .contains("503", "did not answer within ");
        }
    }
}
