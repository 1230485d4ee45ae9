package io.holdfast.spring.boot;

import io.holdfast.redis.RedisMode;
import io.holdfast.redis.RedisStores;
import io.lettuce.core.ClientOptions;
import io.lettuce.core.RedisCredentialsProvider;
import io.lettuce.core.RedisURI;
import io.lettuce.core.SocketOptions;
import java.lang.reflect.Field;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.springframework.data.redis.connection.RedisClusterConfiguration;
import org.springframework.data.redis.connection.RedisConfiguration;
import org.springframework.data.redis.connection.RedisNode;
import org.springframework.data.redis.connection.RedisPassword;
import org.springframework.data.redis.connection.RedisSentinelConfiguration;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.data.redis.connection.lettuce.RedisCredentialsProviderFactory;
import org.springframework.util.ReflectionUtils;
import org.springframework.util.StringUtils;

/**
 * Opens a store with the settings of the application's connection factory: login, TLS, resolvers. The store has
 * connections of its own: they must not replay commands, and locks must not wait behind the application's commands. It
 * has threads of its own, because the application's resources may end before the last work under a lock.
 */
final class ApplicationRedis {

    /** Lettuce's default, which is too long for a lock's command. */
    private static final Duration UNSET_TIMEOUT = RedisURI.DEFAULT_TIMEOUT_DURATION;

    /** The field of the connection factory that has its configuration. */
    static final String CONFIGURATION = "configuration";

    private static final Duration TIMEOUT_MIN = Duration.ofMillis(10);
    private static final Duration TIMEOUT_MAX = Duration.ofSeconds(60);

    private final LettuceClientConfiguration client;
    private final RedisConfiguration configuration;

    private ApplicationRedis(LettuceConnectionFactory factory) {
        this.client = factory.getClientConfiguration();
        this.configuration = configuration(factory);
    }

    /**
     * Returns a builder of stores with the settings of this factory.
     *
     * @throws LockSettingsException if the factory connects to servers that cannot keep locks
     */
    static RedisStores.Builder stores(LettuceConnectionFactory factory, HoldfastProperties properties) {
        ApplicationRedis redis = new ApplicationRedis(factory);
        RedisStores.Builder stores = redis.topology().passwordAdvice("set spring.data.redis.password");
        redis.client.getClientResources().ifPresent(stores::settingsOf);
        redis.client.getClientOptions().map(ClientOptions::getSslOptions).ifPresent(stores::sslOptions);
        redis.timeout(properties).ifPresent(stores::timeout);
        redis.client
                .getClientOptions()
                .flatMap(ApplicationRedis::connectTimeout)
                .ifPresent(stores::connectTimeout);
        Optional.ofNullable(properties.namePrefix()).ifPresent(stores::namePrefix);
        Optional.ofNullable(properties.internalPrefix()).ifPresent(stores::internalPrefix);
        Optional.ofNullable(properties.mode())
                .map(Enum::name)
                .map(RedisMode::valueOf)
                .ifPresent(stores::mode);
        Optional.ofNullable(properties.minReplicas()).ifPresent(stores::minReplicas);
        return stores;
    }

    /** Returns a builder for the topology. The order of the checks is that of the factory. */
    private RedisStores.Builder topology() {
        if (configuration instanceof RedisConfiguration.StaticMasterReplicaConfiguration) {
            throw new LockSettingsException(
                    "The application's Redis is a list of static masters and replicas, and it is not known which"
                            + " server is the master",
                    "Set holdfast.store to the URI of the master, for example redis://master:6379");
        }
        if (configuration instanceof RedisSentinelConfiguration sentinel) {
            return RedisStores.sentinel(sentinels(sentinel));
        }
        if (configuration instanceof RedisClusterConfiguration cluster) {
            return RedisStores.cluster(cluster.getClusterNodes().stream()
                    .map(node -> server(host(node), port(node), 0))
                    .toList());
        }
        if (configuration instanceof RedisStandaloneConfiguration server) {
            return RedisStores.standalone(server(server.getHostName(), server.getPort(), server.getDatabase()));
        }
        throw new LockSettingsException(
                "The application's Redis is configured by a "
                        + configuration.getClass().getName(),
                "Use a single server, Sentinel or Cluster, or set holdfast.store");
    }

    private RedisURI server(String host, int port, int database) {
        return completed(RedisURI.Builder.redis(host, port).withDatabase(database));
    }

    private RedisURI sentinels(RedisSentinelConfiguration sentinel) {
        if (sentinel.getMaster() == null || sentinel.getMaster().getName() == null) {
            throw new LockSettingsException(
                    "The application's Redis Sentinel has no master name", "Set spring.data.redis.sentinel.master");
        }
        RedisURI.Builder uri = RedisURI.builder()
                .withDatabase(sentinel.getDatabase())
                .withSentinelMasterId(sentinel.getMaster().getName());
        for (RedisNode node : sentinel.getSentinels()) {
            RedisURI.Builder each = RedisURI.Builder.redis(host(node), port(node));
            authenticate(each, sentinel.getSentinelUsername(), sentinel.getSentinelPassword());
            uri.withSentinel(
                    withClientSettings(each, credentials -> credentials.createSentinelCredentialsProvider(sentinel)));
        }
        return completed(uri);
    }

    private RedisURI completed(RedisURI.Builder uri) {
        if (configuration instanceof RedisConfiguration.WithAuthentication login) {
            authenticate(uri, login.getUsername(), login.getPassword());
        }
        return withClientSettings(uri, credentials -> credentials.createCredentialsProvider(configuration));
    }

    private RedisURI withClientSettings(
            RedisURI.Builder builder, Function<RedisCredentialsProviderFactory, RedisCredentialsProvider> credentials) {
        RedisURI uri = builder.build();
        client.getClientName().filter(StringUtils::hasText).ifPresent(uri::setClientName);
        uri.setSsl(client.isUseSsl());
        uri.setVerifyPeer(client.getVerifyMode());
        uri.setStartTls(client.isStartTls());
        client.getRedisCredentialsProviderFactory().map(credentials).ifPresent(uri::setCredentialsProvider);
        return uri;
    }

    private static void authenticate(RedisURI.Builder uri, @Nullable String user, RedisPassword password) {
        if (StringUtils.hasText(user) && password.isPresent()) {
            uri.withAuthentication(user, password.get());
        } else {
            password.toOptional().ifPresent(uri::withPassword);
        }
    }

    private Optional<Duration> timeout(HoldfastProperties properties) {
        Optional<Duration> applications = Optional.of(client.getCommandTimeout())
                .filter(timeout -> !timeout.equals(UNSET_TIMEOUT) && !timeout.isZero())
                .map(ApplicationRedis::bounded);
        return Optional.ofNullable(properties.commandTimeout()).or(() -> applications);
    }

    /** Returns the setting {@code spring.data.redis.connect-timeout}; empty if it is the driver's default. */
    static Optional<Duration> connectTimeout(ClientOptions options) {
        return Optional.of(options.getSocketOptions().getConnectTimeout())
                .filter(timeout -> !timeout.equals(SocketOptions.DEFAULT_CONNECT_TIMEOUT_DURATION))
                .map(ApplicationRedis::bounded);
    }

    private static Duration bounded(Duration timeout) {
        Duration atLeast = timeout.compareTo(TIMEOUT_MIN) < 0 ? TIMEOUT_MIN : timeout;
        return atLeast.compareTo(TIMEOUT_MAX) > 0 ? TIMEOUT_MAX : atLeast;
    }

    /**
     * Reads the field. The factory's methods show only some kinds, and for others a standalone configuration of
     * localhost, which has no locks.
     */
    private static RedisConfiguration configuration(LettuceConnectionFactory factory) {
        Field field = ReflectionUtils.findField(LettuceConnectionFactory.class, CONFIGURATION);
        if (field != null && field.trySetAccessible()) {
            Object value = ReflectionUtils.getField(field, factory);
            if (value instanceof RedisConfiguration known) {
                return known;
            }
        }
        throw new LockSettingsException(
                "This version of Spring Data Redis does not show the configuration of its connection factory",
                "Set holdfast.store");
    }

    private static String host(RedisNode node) {
        return Objects.requireNonNull(node.getHost(), "a Redis node without a host");
    }

    private static int port(RedisNode node) {
        return Objects.requireNonNullElse(node.getPort(), RedisURI.DEFAULT_REDIS_PORT);
    }
}
