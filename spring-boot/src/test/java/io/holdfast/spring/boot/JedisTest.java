package io.holdfast.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.Lease;
import io.holdfast.LockClient;
import io.holdfast.testkit.servers.ChildJvm;
import io.holdfast.testkit.servers.RedisServer;
import java.io.File;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;

/** An application that uses Jedis reads what to do; with the real Jedis. */
class JedisTest {

    @Test
    void connections_by_jedis_are_refused_with_the_way_out() {
        Contexts.boot()
                .withPropertyValues("spring.data.redis.client-type=jedis")
                .run(context -> {
                    FailureAnalysis analysis = new LockSettingsFailureAnalyzer().analyze(context.getStartupFailure());
                    assertThat(analysis.getDescription()).contains(JedisConnectionFactory.class.getName());
                    assertThat(analysis.getAction())
                            .contains("spring.data.redis.client-type=lettuce", "holdfast.store", "lettuce-core");
                });
    }

    /** The way out that the message names. */
    @Test
    void with_a_store_of_its_own_the_locks_leave_jedis_to_the_rest() {
        try (RedisServer server = RedisServer.start()) {
            Contexts.boot()
                    .withPropertyValues(
                            "spring.data.redis.client-type=jedis",
                            "spring.data.redis.port=" + server.port(),
                            "holdfast.store=" + server.uri())
                    .run(context -> {
                        assertThat(context.getBean(RedisConnectionFactory.class))
                                .isInstanceOf(JedisConnectionFactory.class);
                        try (Lease lease = context.getBean(LockClient.class).acquire("order:1")) {
                            assertThat(context.getBean(RedisConnectionFactory.class)
                                            .getConnection()
                                            .keyCommands()
                                            .exists("lock:order:1".getBytes(StandardCharsets.UTF_8)))
                                    .isTrue();
                            assertThat(lease.isValid()).isTrue();
                        }
                    });
        }
    }

    /** A JVM whose class path has no Lettuce at all: nothing of ours may need it before that is said. */
    @Test
    @Tag("deep") // quick: connections_by_jedis_are_refused_with_the_way_out
    void without_lettuce_on_the_class_path_the_start_ends_with_the_message() throws Exception {
        String classes = Arrays.stream(System.getProperty("java.class.path").split(File.pathSeparator))
                .filter(entry -> !entry.contains("lettuce-core"))
                .collect(Collectors.joining(File.pathSeparator));
        Process jvm = ChildJvm.command("-cp", classes, JedisApplication.class.getName())
                .redirectErrorStream(true)
                .start();
        jvm.getOutputStream().close();
        String said = new String(jvm.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(jvm.waitFor()).as("%s", said).isEqualTo(1);
        assertThat(said)
                .contains(
                        "APPLICATION FAILED TO START",
                        "The settings of the locks cannot be used: Lettuce is not on the class path.",
                        "Add io.holdfast:holdfast-redis and io.lettuce:lettuce-core",
                        "spring.data.redis.client-type=jedis");
    }
}
