package io.holdfast.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.Lease;
import io.holdfast.LockClient;
import io.holdfast.LockClientClosedException;
import io.holdfast.LockStoreException;
import io.holdfast.spring.Locked;
import io.holdfast.testkit.servers.RedisCluster;
import io.holdfast.testkit.servers.RedisReplication;
import io.holdfast.testkit.servers.RedisServer;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.RedisStaticMasterReplicaConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/** Where the client's store comes from, on real servers of each kind; and what is said when there is none. */
class AutoConfigurationTest {

    private static final AtomicReference<RedisServer> SERVER = new AtomicReference<>();

    @Configuration(proxyBeanMethods = false)
    static class OwnFactory {
        @Bean
        LettuceConnectionFactory ownFactory() {
            return new LettuceConnectionFactory(new RedisStandaloneConfiguration(
                    SERVER.get().host(), SERVER.get().port()));
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class SecondFactory {
        @Bean
        LettuceConnectionFactory secondFactory() {
            return new LettuceConnectionFactory("127.0.0.1", 1);
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class StaticReplicas {
        @Bean
        LettuceConnectionFactory staticReplicas() {
            return new LettuceConnectionFactory(new RedisStaticMasterReplicaConfiguration("127.0.0.1", 1));
        }
    }

    @Test
    void a_url_a_factory_of_the_users_own_and_one_of_several_lead_to_the_server() {
        try (RedisServer server = RedisServer.start()) {
            SERVER.set(server);
            Contexts.boot()
                    .withPropertyValues("spring.data.redis.url=" + server.uri() + "/2", "spring.data.redis.timeout=2s")
                    .run(context -> {
                        LockClient client = context.getBean(LockClient.class);
                        assertThat(client.describeStore()).isEqualTo(server.uri() + "/2");
                        takes(client);
                    });
            Contexts.boot()
                    .withUserConfiguration(OwnFactory.class)
                    .run(context -> takes(context.getBean(LockClient.class)));
            var two = Contexts.boot().withUserConfiguration(OwnFactory.class, SecondFactory.class);
            two.run(context -> assertThat(analysis(context.getStartupFailure()).getAction())
                    .contains("holdfast.connection-factory"));
            two.withPropertyValues("holdfast.connection-factory=ownFactory")
                    .run(context -> takes(context.getBean(LockClient.class)));
        }
    }

    /** A whole application, as Boot itself puts it together. */
    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class Whole {

        @Bean
        Refunds refunds() {
            return new Refunds();
        }
    }

    static class Refunds {

        @Locked(name = "order.refund", key = "#orderId")
        public long refund(long orderId, @Nullable Lease lease) {
            return lease.fencingToken();
        }
    }

    @Test
    @Tag("deep") // quick: ApplicationRedisTest
    void a_whole_application_behind_sentinels_locks_at_the_master() {
        try (RedisReplication replication =
                        RedisReplication.builder().replicas(1).sentinels().start();
                ConfigurableApplicationContext application = start(
                        "spring.data.redis.sentinel.master=" + RedisReplication.MASTER_NAME,
                        "spring.data.redis.sentinel.nodes=" + nodes(replication.sentinels()))) {
            refunds(application);
            assertThat(String.valueOf(replication.master().command("CLIENT", "LIST")))
                    .contains(" name=holdfast:");
        }
    }

    @Test
    @Tag("deep") // quick: RedisClusterStoreTest of redis
    void a_whole_application_on_a_cluster_locks_at_all_of_its_masters() {
        try (RedisCluster cluster =
                        RedisCluster.builder().masters(3).replicasEach(0).start();
                ConfigurableApplicationContext application =
                        start("spring.data.redis.cluster.nodes=" + nodes(cluster.nodes()))) {
            refunds(application);
            assertThat(cluster.nodes())
                    .allSatisfy(node -> assertThat(node.commandCounts()).containsKey("evalsha"));
        }
    }

    private static ConfigurableApplicationContext start(String... properties) {
        return new SpringApplicationBuilder(Whole.class)
                .web(WebApplicationType.NONE)
                .properties(properties)
                .run();
    }

    private static void refunds(ConfigurableApplicationContext application) {
        Refunds refunds = application.getBean(Refunds.class);
        for (long order = 0; order < 30; order++) {
            long first = refunds.refund(order, null);
            assertThat(refunds.refund(order, null)).isGreaterThan(first);
        }
    }

    @Test
    void what_cannot_be_used_says_what_to_do() {
        Contexts.boot().withUserConfiguration(StaticReplicas.class).run(context -> {
            FailureAnalysis analysis = analysis(context.getStartupFailure());
            assertThat(analysis.getDescription()).contains("static masters and replicas");
            assertThat(analysis.getAction()).contains("holdfast.store");
        });
        Contexts.memory("none")
                .withPropertyValues("holdfast.store=")
                .run(context -> assertThat(analysis(context.getStartupFailure()).getAction())
                        .contains("holdfast-spring-boot-starter"));
        Contexts.boot()
                .withPropertyValues("holdfast.store=memory:x", "holdfast.name-prefix=y")
                .run(context -> assertThat(analysis(context.getStartupFailure()).getDescription())
                        .contains("holdfast.name-prefix"));
        for (String wrong : List.of(
                "holdfast.lease-time=1ms",
                "holdfast.store-timeout=-1s",
                "holdfast.hand-off.tenure=-1s",
                "holdfast.store=memroy://x")) {
            Contexts.memory("wrong").withPropertyValues(wrong).run(context -> {
                FailureAnalysis analysis = new LockSettingsFailureAnalyzer().analyze(context.getStartupFailure());
                assertThat(analysis).as(wrong).isNotNull();
                assertThat(analysis.getDescription())
                        .containsPattern("lease|storeTimeout|tenure|memroy")
                        .contains("expected: ");
            });
        }
        Contexts.boot().withPropertyValues("spring.data.redis.port=1").run(context -> {
            Throwable cause = context.getStartupFailure();
            FailureAnalysis analysis = new LockStoreFailureAnalyzer().analyze(cause);
            assertThat(analysis.getDescription()).contains("localhost:1");
            assertThat(analysis.getAction()).contains("spring.data.redis").doesNotContain("table");
        });
        assertThat(new LockStoreFailureAnalyzer()
                        .analyze(new LockStoreException(
                                "jdbc:x://db needs the driver org.x:x, which is not on the class path", "x", null))
                        .getAction())
                .isEqualTo("Add that driver to the dependencies of the application.");
    }

    @Test
    void the_client_is_closed_with_the_context_and_what_it_held_is_released() {
        AtomicReference<LockClient> client = new AtomicReference<>();
        try (LockClient other = LockClient.connect("memory:lifecycle")) {
            Contexts.memory("lifecycle").run(context -> {
                client.set(context.getBean(LockClient.class));
                assertThat(client.get().acquire("held").isValid()).isTrue();
                assertThat(context.getBean(LockClientLifecycle.class).getPhase())
                        .isPositive()
                        .isLessThan(Integer.MAX_VALUE - 2048);
            });
            assertThatThrownBy(() -> client.get().tryAcquire("x")).isInstanceOf(LockClientClosedException.class);
            assertThat(other.tryAcquire("held")).isPresent();
        }
    }

    /** On JDK 17 the setting is without effect, as in Boot itself. */
    @Test
    void callbacks_run_on_virtual_threads_where_there_are_some() throws Exception {
        Contexts.memory("virtual")
                .withPropertyValues("spring.threads.virtual.enabled=true")
                .run(context -> {
                    Thread thread = context.getBean(LockClient.class)
                            .acquireAsync("x")
                            .thenApply(lease -> {
                                Thread current = Thread.currentThread();
                                var unused = lease.releaseAsync();
                                return current;
                            })
                            .toCompletableFuture()
                            .get();
                    boolean virtual = Runtime.version().feature() >= 21
                            && (boolean) Thread.class.getMethod("isVirtual").invoke(thread);
                    assertThat(virtual
                                    || Runtime.version().feature() < 21
                                    || thread.getName().equals("main"))
                            .isTrue();
                });
    }

    @Test
    void settings_have_descriptions_for_editors() throws Exception {
        try (InputStream metadata =
                HoldfastProperties.class.getResourceAsStream("/META-INF/spring-configuration-metadata.json")) {
            assertThat(metadata).isNotNull();
            assertThat(new String(metadata.readAllBytes(), StandardCharsets.UTF_8))
                    .contains(
                            "\"holdfast.wait-time\"",
                            "\"holdfast.hand-off.tenure\"",
                            "Length of a lease that is renewed");
        }
    }

    private static FailureAnalysis analysis(Throwable failure) {
        FailureAnalysis analysis = new LockSettingsFailureAnalyzer().analyze(failure);
        assertThat(analysis).as("%s", failure).isNotNull();
        return analysis;
    }

    private static void takes(LockClient client) throws InterruptedException {
        try (Lease lease = client.acquire("order:1")) {
            assertThat(lease.fencingToken()).isPositive();
            assertThat(client.inspect("order:1").isLocked()).isTrue();
        }
    }

    private static String nodes(List<RedisServer> servers) {
        return servers.stream().map(each -> each.host() + ":" + each.port()).collect(Collectors.joining(","));
    }
}
