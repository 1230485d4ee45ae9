package io.holdfast.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.Lease;
import io.holdfast.LockClient;
import io.holdfast.LockStoreException;
import io.holdfast.testkit.servers.RedisReplication;
import io.holdfast.testkit.servers.RedisServer;
import io.lettuce.core.RedisCredentials;
import io.lettuce.core.RedisCredentialsProvider;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;
import org.springframework.data.redis.connection.RedisConfiguration;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.data.redis.connection.lettuce.RedisCredentialsProviderFactory;
import reactor.core.publisher.Mono;

/** What the application says of its Redis holds for the connections of the locks, as the server itself sees them. */
class ApplicationRedisTest {

    private static final String PASSWORD = "s/e c#ret";

    private static RedisServer serverWithUser() {
        RedisServer server = RedisServer.start();
        server.command("ACL", "SETUSER", "app", "on", ">" + PASSWORD, "~*", "&*", "+@all");
        return server;
    }

    @Test
    void user_password_database_and_client_name() {
        try (RedisServer server = serverWithUser()) {
            Contexts.boot()
                    .withPropertyValues(
                            "spring.data.redis.host=" + server.host(),
                            "spring.data.redis.port=" + server.port(),
                            "spring.data.redis.username=app",
                            "spring.data.redis.password=" + PASSWORD,
                            "spring.data.redis.database=3",
                            "spring.data.redis.client-name=shop")
                    .run(context -> {
                        takes(context.getBean(LockClient.class));
                        assertThat(connections(server))
                                .isNotEmpty()
                                .allSatisfy(connection ->
                                        assertThat(connection).contains(" name=shop ", " user=app", " db=3 "));
                        assertThat(server.command("INFO", "keyspace").toString())
                                .contains("db3:")
                                .doesNotContain("db0:");
                    });
            Contexts.boot()
                    .withPropertyValues(
                            "spring.data.redis.host=" + server.host(),
                            "spring.data.redis.port=" + server.port(),
                            "spring.data.redis.username=app",
                            "spring.data.redis.password=wrong")
                    .run(context -> assertThat(new LockStoreFailureAnalyzer()
                                    .analyze(context.getStartupFailure())
                                    .getDescription())
                            .contains("app", "spring.data.redis.password")
                            .doesNotContain("=wrong"));
        }
    }

    @Test
    void the_application_is_named_on_connections_and_cards_unless_a_customizer_names_it() {
        try (RedisServer server = RedisServer.start()) {
            ApplicationContextRunner store = Contexts.boot().withPropertyValues("holdfast.store=" + server.uri());
            store.withPropertyValues("spring.application.name=shop")
                    .run(context -> assertThat(connections(server)).anyMatch(list -> list.contains("=holdfast:shop@")));
            store.withPropertyValues("spring.application.name=" + "x".repeat(200))
                    .run(context -> assertThat(connections(server))
                            .anyMatch(list -> list.contains("=holdfast:" + "x".repeat(100) + "@")));
            store.withPropertyValues("spring.application.name=shop")
                    .withBean(LockClientCustomizer.class, () -> builder -> builder.clientName("own"))
                    .run(context -> assertThat(connections(server)).anyMatch(list -> list.contains("=holdfast:own@")));
        }
    }

    @Test
    void all_of_it_in_a_url() {
        try (RedisServer server = serverWithUser()) {
            Contexts.boot()
                    .withPropertyValues(
                            "spring.data.redis.url=redis://app:s%2Fe%20c%23ret@" + server.address() + "/5",
                            "spring.data.redis.client-name=shop")
                    .run(context -> {
                        takes(context.getBean(LockClient.class));
                        assertThat(connections(server))
                                .isNotEmpty()
                                .allSatisfy(connection ->
                                        assertThat(connection).contains(" name=shop ", " user=app", " db=5 "));
                    });
        }
    }

    @Test
    void a_timeout_is_the_time_that_a_command_may_take() {
        try (RedisServer server = RedisServer.start()) {
            at(server).withPropertyValues("spring.data.redis.timeout=1321ms").run(context -> {
                LockClient client = context.getBean(LockClient.class);
                takes(client);
                server.pause();
                try {
                    assertThatThrownBy(() -> client.inspect("any"))
                            .isInstanceOf(LockStoreException.class)
                            .hasMessageContaining("within 1.321 s");
                } finally {
                    server.resume();
                }
            });
            at(server)
                    .withPropertyValues("spring.data.redis.timeout=1321ms", "holdfast.command-timeout=1123ms")
                    .run(context -> {
                        LockClient client = context.getBean(LockClient.class);
                        takes(client);
                        server.pause();
                        try {
                            assertThatThrownBy(() -> client.inspect("any")).hasMessageContaining("within 1.123 s");
                        } finally {
                            server.resume();
                        }
                    });
        }
    }

    /** Logs in as the user that the provider names at that time. */
    private static final class Vault implements RedisCredentialsProviderFactory {

        final AtomicInteger asked = new AtomicInteger();

        @Override
        public RedisCredentialsProvider createCredentialsProvider(RedisConfiguration configuration) {
            return () -> Mono.fromSupplier(() -> {
                asked.incrementAndGet();
                return RedisCredentials.just("app", PASSWORD);
            });
        }
    }

    @Test
    void a_credentials_provider_of_a_factory_of_the_users_own() {
        Vault vault = new Vault();
        try (RedisServer server = serverWithUser()) {
            Contexts.boot()
                    .withBean(
                            RedisConnectionFactory.class,
                            () -> new LettuceConnectionFactory(
                                    new RedisStandaloneConfiguration(server.host(), server.port()),
                                    LettuceClientConfiguration.builder()
                                            .clientName("own")
                                            .commandTimeout(Duration.ofSeconds(2))
                                            .redisCredentialsProviderFactory(vault)
                                            .build()))
                    .run(context -> {
                        takes(context.getBean(LockClient.class));
                        assertThat(vault.asked).hasPositiveValue();
                        assertThat(connections(server))
                                .isNotEmpty()
                                .allSatisfy(connection -> assertThat(connection).contains(" name=own ", " user=app"));
                    });
        }
    }

    @Test
    void password_database_and_client_name_behind_sentinels() {
        try (RedisReplication replication = RedisReplication.builder()
                .replicas(1)
                .sentinels()
                .args("--protected-mode", "no")
                .start()) {
            for (RedisServer server : replication.servers()) {
                server.command("ACL", "SETUSER", "app", "on", ">" + PASSWORD, "~*", "&*", "+@all");
            }
            Contexts.boot()
                    .withPropertyValues(
                            "spring.data.redis.sentinel.master=" + RedisReplication.MASTER_NAME,
                            "spring.data.redis.sentinel.nodes="
                                    + replication.sentinels().stream()
                                            .map(RedisServer::address)
                                            .collect(Collectors.joining(",")),
                            "spring.data.redis.username=app",
                            "spring.data.redis.password=" + PASSWORD,
                            "spring.data.redis.database=2",
                            "spring.data.redis.client-name=shop")
                    .run(context -> {
                        takes(context.getBean(LockClient.class));
                        assertThat(connections(replication.master()).stream()
                                        .filter(connection -> connection.contains(" name=shop ")))
                                .isNotEmpty()
                                .allSatisfy(connection -> assertThat(connection).contains(" user=app", " db=2 "));
                    });
        }
    }

    @Test
    void a_connect_timeout_that_was_set() {
        try (RedisServer server = RedisServer.start()) {
            at(server).run(context -> assertThat(connectTimeout(context)).isEmpty());
            at(server)
                    .withPropertyValues("spring.data.redis.connect-timeout=700ms")
                    .run(context -> {
                        assertThat(connectTimeout(context)).contains(Duration.ofMillis(700));
                        takes(context.getBean(LockClient.class));
                    });
        }
    }

    private static Optional<Duration> connectTimeout(ApplicationContext context) {
        return context.getBean(LettuceConnectionFactory.class)
                .getClientConfiguration()
                .getClientOptions()
                .flatMap(ApplicationRedis::connectTimeout);
    }

    private static ApplicationContextRunner at(RedisServer server) {
        return Contexts.boot()
                .withPropertyValues(
                        "spring.data.redis.host=" + server.host(), "spring.data.redis.port=" + server.port());
    }

    /**
     * Those of the locks: all but the one that asks. The application itself has none, since nobody used its template.
     */
    private static List<String> connections(RedisServer server) {
        return Arrays.stream(String.valueOf(server.command("CLIENT", "LIST")).split("\n"))
                .filter(line -> !line.contains(" cmd=client"))
                .toList();
    }

    private static void takes(LockClient client) throws InterruptedException {
        try (Lease lease = client.acquire("order:1")) {
            assertThat(lease.fencingToken()).isPositive();
            assertThat(client.inspect("order:1").isLocked()).isTrue();
        }
    }
}
