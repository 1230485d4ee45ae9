package io.holdfast.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.holdfast.LockClient;
import io.holdfast.LockStoreException;
import io.holdfast.spring.Locked;
import io.holdfast.spring.LogLines;
import io.holdfast.testkit.servers.RedisServer;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Properties;
import org.junit.jupiter.api.Test;

/** What an application, and a tool that edits its settings, learn about locks at the start. */
class StartTest {

    static class Two {
        @Locked("a")
        public void a() {}

        @Locked(name = "b", key = "#id")
        public void b(long id) {}
    }

    @Test
    void one_line_says_how_many_methods_are_locked_and_where() {
        try (LogLines log = new LogLines(LockClientLifecycle.class)) {
            Contexts.memory("line")
                    .withBean(Two.class)
                    .withPropertyValues("holdfast.wait-time=3s")
                    .run(context -> assertThat(log.lines())
                            .containsExactly(
                                    "INFO Locks: 2 locked methods, wait 3 s, renewed lease 30 s, store memory"));
        }
    }

    @Test
    void a_lazy_application_starts_while_redis_is_away() {
        try (RedisServer server = RedisServer.start()) {
            server.kill();
            var application = Contexts.boot()
                    .withBean(Two.class)
                    .withPropertyValues("spring.data.redis.port=" + server.port(), "holdfast.store-timeout=200ms");
            application.run(context -> assertThat(context).hasFailed());
            application.withPropertyValues("holdfast.startup=lazy").run(context -> {
                assertThat(context).hasNotFailed();
                LockHealth without = LockHealth.of(Map.of("c", context.getBean(LockClient.class)));
                assertThat(without.up()).isFalse();
                assertThat(without.details()).containsKey("error");
                assertThatThrownBy(() -> context.getBean(Two.class).a())
                        .isInstanceOf(LockStoreException.class)
                        .hasMessageContaining("could not be opened yet")
                        .hasMessageContaining(":" + server.port());
                server.restart();
                await().untilAsserted(() ->
                        assertThatCode(() -> context.getBean(Two.class).a()).doesNotThrowAnyException());
                assertThat(LockHealth.of(Map.of("c", context.getBean(LockClient.class)))
                                .up())
                        .isTrue();
            });
        }
    }

    @Test
    void a_connection_factory_that_is_not_there_is_named_with_those_that_are() {
        Contexts.boot().withPropertyValues("holdfast.connection-factory=nobody").run(context -> {
            var analysis = new LockSettingsFailureAnalyzer().analyze(context.getStartupFailure());
            assertThat(analysis.getDescription()).contains("holdfast.connection-factory is \"nobody\"");
            assertThat(analysis.getAction()).contains("redisConnectionFactory");
        });
    }

    @Test
    void the_jar_has_the_metadata_of_its_settings_and_its_conditions() throws Exception {
        Properties conditions = new Properties();
        try (InputStream file = resource("META-INF/spring-autoconfigure-metadata.properties")) {
            conditions.load(file);
        }
        assertThat(conditions)
                .containsKey("io.holdfast.spring.boot.HoldfastWebAutoConfiguration.ConditionalOnClass")
                .containsKey("io.holdfast.spring.boot.HoldfastMetricsAutoConfiguration.ConditionalOnClass");
        try (InputStream file = resource("META-INF/spring-configuration-metadata.json")) {
            assertThat(new String(file.readAllBytes(), StandardCharsets.UTF_8))
                    .contains("\"holdfast.web.busy-status\"", "spring-bean-reference", "host1,host2,host3");
        }
    }

    /** Of this library: others have files of the same name. */
    private static InputStream resource(String name) throws Exception {
        String location = HoldfastAutoConfiguration.class
                .getProtectionDomain()
                .getCodeSource()
                .getLocation()
                .toString();
        String base = location.endsWith(".jar") ? "jar:" + location + "!/" : location;
        return new java.net.URL(base + name).openStream();
    }
}
