package io.holdfast.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.spring.Locked;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Properties;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import java.util.logging.SimpleFormatter;
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
        List<String> lines = new CopyOnWriteArrayList<>();
        Handler handler = new Handler() {
            @Override
            public void publish(LogRecord event) {
                lines.add(event.getLevel() + " " + new SimpleFormatter().formatMessage(event));
            }

            @Override
            public void flush() {}

            @Override
            public void close() {}
        };
        Logger logger = Logger.getLogger(LockClientLifecycle.class.getName());
        logger.addHandler(handler);
        try {
            Contexts.memory("line")
                    .withBean(Two.class)
                    .withPropertyValues("holdfast.wait-time=3s")
                    .run(context -> assertThat(lines)
                            .containsExactly(
                                    "INFO Locks: 2 locked methods, wait 3 s, renewed lease 30 s, store memory"));
        } finally {
            logger.removeHandler(handler);
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
