package io.holdfast.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.Lease;
import io.holdfast.LockClient;
import io.holdfast.LockStoreException;
import io.holdfast.redis.server.RedisSettings;
import io.holdfast.testkit.servers.RedisServer;
import io.lettuce.core.RedisCredentialsProvider;
import io.lettuce.core.RedisURI;
import io.lettuce.core.resource.ClientResources;
import io.lettuce.core.resource.SocketAddressResolver;
import java.net.SocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;

class RedisStoresTest {

    @Test
    void sharedThreadsOutliveTheStore() throws Exception {
        ClientResources shared = ClientResources.builder()
                .ioThreadPoolSize(2)
                .computationThreadPoolSize(2)
                .build();
        try (RedisServer server = RedisServer.builder().password("s3cret").start()) {
            RedisURI uri = RedisURI.Builder.redis(server.host(), server.port())
                    .withPassword("s3cret".toCharArray())
                    .build();
            for (int i = 0; i < 2; i++) {
                try (LockClient locks = LockClient.builder()
                        .store(RedisStores.standalone(uri)
                                .clientResources(shared)
                                .timeout(Duration.ofSeconds(2))
                                .internalPrefix("mine")::open)
                        .build()) {
                    try (Lease lease = locks.acquire("a")) {
                        assertThat(lease.isValid()).isTrue();
                        assertThat(server.command("KEYS", "mine:*").toString()).contains("mine:b");
                    }
                }
            }
            assertThat(shared.eventExecutorGroup().isShuttingDown()).isFalse();
        } finally {
            assertThat(shared.shutdown(0, 5, TimeUnit.SECONDS).get(20, TimeUnit.SECONDS))
                    .isTrue();
        }
    }

    /** Spring Boot ends its resources while work under a lock may still run. */
    @Test
    void theSettingsOfResourcesOutliveTheirThreads() throws Exception {
        AtomicInteger resolved = new AtomicInteger();
        ClientResources model = ClientResources.builder()
                .ioThreadPoolSize(2)
                .computationThreadPoolSize(2)
                .socketAddressResolver(new SocketAddressResolver() {
                    @Override
                    public SocketAddress resolve(RedisURI uri) {
                        resolved.incrementAndGet();
                        return super.resolve(uri);
                    }
                })
                .build();
        try (RedisServer server = RedisServer.start();
                LockClient locks = LockClient.builder()
                        .store(RedisStores.standalone(RedisURI.create(server.host(), server.port()))
                                .settingsOf(model)::open)
                        .build()) {
            assertThat(resolved).hasPositiveValue();
            assertThat(model.shutdown(0, 5, TimeUnit.SECONDS).get(20, TimeUnit.SECONDS))
                    .isTrue();
            locks.acquire("a").release();
        }
    }

    /** A token that cannot be fetched is not a server that closes connections: trying again at once helps nobody. */
    @Test
    void aFailedLoginProviderIsQuotedAndNotAskedAgainAndAgain() {
        AtomicInteger calls = new AtomicInteger();
        failsWithoutManyCalls(calls, () -> Mono.error(noToken(calls)));
        failsWithoutManyCalls(calls, () -> {
            throw noToken(calls);
        });
        RedisCredentialsProvider.ImmediateRedisCredentialsProvider immediate = () -> {
            throw noToken(calls);
        };
        failsWithoutManyCalls(calls, immediate);
    }

    private static IllegalStateException noToken(AtomicInteger calls) {
        calls.incrementAndGet();
        return new IllegalStateException("no token");
    }

    private static void failsWithoutManyCalls(AtomicInteger calls, RedisCredentialsProvider provider) {
        calls.set(0);
        try (RedisServer server = RedisServer.start()) {
            RedisURI uri = RedisURI.Builder.redis(server.host(), server.port())
                    .withAuthentication(provider)
                    .build();
            assertThatThrownBy(() -> LockClient.builder()
                            .store(RedisStores.standalone(uri).timeout(Duration.ofSeconds(2))::open)
                            .build())
                    .isInstanceOf(LockStoreException.class)
                    .hasMessageContaining("The credentials provider for redis://" + server.host())
                    .hasMessageContaining(" failed: no token (correct the provider's settings, ")
                    .hasMessageNotContaining("maxclients");
            // The driver may close the connection before it looks for the failure, which is worth another try.
            assertThat(calls).hasValueBetween(1, 9);
        }
    }

    @Test
    void theUrisAreCopied() {
        RedisURI uri = RedisURI.create("redis://h:7000/3");
        RedisStores.Builder builder = RedisStores.standalone(uri);
        RedisSettings settings = builder.settings();
        uri.setHost("other");

        assertThat(settings.describe()).isEqualTo("redis://h:7000/3");
        assertThat(settings.node().getClientName()).isEqualTo("holdfast");
        assertThat(settings.node().getTimeout()).isEqualTo(Duration.ofSeconds(3));
        assertThat(uri.getTimeout()).isEqualTo(Duration.ofSeconds(60));
    }

    @Test
    void aConnectionMayTakeAsLongAsAnAnswerAndLessIfThatIsSaid() {
        RedisStores.Builder builder =
                RedisStores.standalone(RedisURI.create("redis://h")).timeout(Duration.ofSeconds(2));
        assertThat(builder.settings().connectTimeout()).isEqualTo(Duration.ofSeconds(2));
        assertThat(builder.connectTimeout(Duration.ofMillis(500)).settings().connectTimeout())
                .isEqualTo(Duration.ofMillis(500));
        assertThat(builder.connectTimeout(Duration.ofSeconds(9)).settings().connectTimeout())
                .isEqualTo(Duration.ofSeconds(2));
        assertThatThrownBy(() -> builder.connectTimeout(Duration.ofMillis(9)))
                .isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void sentinelsAreCopied() {
        RedisURI uri =
                RedisURI.Builder.sentinel("h1", 7000, "m").withSentinel("h2").build();
        RedisSettings settings = RedisStores.sentinel(uri).settings();
        uri.getSentinels().get(0).setHost("other");

        assertThat(settings.describe()).isEqualTo("redis-sentinel://h1:7000,h2:26379/0#m");
    }

    @Test
    void whatCannotBeIsRefused() {
        RedisURI server = RedisURI.create("redis://h");
        RedisURI sentinel = RedisURI.Builder.sentinel("h", "m").build();
        assertThatThrownBy(() -> RedisStores.standalone(sentinel))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("RedisStores.sentinel");
        assertThatThrownBy(() -> RedisStores.sentinel(server)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> RedisStores.cluster(List.of())).isInstanceOf(IllegalArgumentException.class);
        RedisURI ofADatabase = RedisURI.create("redis://h/1");
        assertThatThrownBy(() -> RedisStores.cluster(List.of(server, ofADatabase)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("cluster: database 1 (expected: none; Holdfast uses database 0 of a cluster)");
        RedisStores.Builder builder = RedisStores.standalone(server);
        assertThatThrownBy(() -> builder.timeout(Duration.ofMillis(9))).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> builder.internalPrefix("{x}")).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> builder.namePrefix("a b")).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> builder.minReplicas(101)).isInstanceOf(IllegalArgumentException.class);
    }
}
