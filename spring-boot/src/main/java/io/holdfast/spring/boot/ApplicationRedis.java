package io.holdfast.spring.boot;

import io.holdfast.redis.RedisMode;
import io.holdfast.redis.RedisStores;
import io.lettuce.core.ClientOptions;
import io.lettuce.core.RedisCredentialsProvider;
import io.lettuce.core.RedisURI;
import io.lettuce.core.SocketOptions;
import java.lang.reflect.Field;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.springframework.data.redis.connection.RedisClusterConfiguration;
import org.springframework.data.redis.connection.RedisConfiguration;
import org.springframework.data.redis.connection.RedisNode;
import org.springframework.data.redis.connection.RedisPassword;
import org.springframework.data.redis.connection.RedisSentinelConfiguration;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.util.ReflectionUtils;
import org.springframework.util.StringUtils;

/**
 * The settings of the application's connection factory, as a store of ours. It shares threads, login and TLS with the application, but
 * has connections of its own: they must not replay commands, and locks must not wait behind the application's commands.
 */
final class ApplicationRedis {

    /** What Lettuce has if nobody says otherwise; too long for a lock's command. */
    private static final Duration UNSET_TIMEOUT = RedisURI.DEFAULT_TIMEOUT_DURATION;

    /** The field of the connection factory with what it was made of. */
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
     * What opens a store with the settings of this factory.
     *
     * @throws NoLockStoreException if it is something that no lock can be kept on
     */
    static RedisStores.Builder stores(LettuceConnectionFactory factory, HoldfastProperties properties) {
        ApplicationRedis redis = new ApplicationRedis(factory);
        RedisStores.Builder stores = redis.topology().passwordAdvice("set spring.data.redis.password");
        redis.client.getClientResources().ifPresent(stores::clientResources);
        redis.client.getClientOptions().map(ClientOptions::getSslOptions).ifPresent(stores::sslOptions);
        redis.timeout(properties).ifPresent(stores::timeout);
        redis.client
                .getClientOptions()
                .flatMap(ApplicationRedis::connectTimeout)
                .ifPresent(stores::connectTimeout);
        if (properties.namePrefix() != null) {
            stores.namePrefix(properties.namePrefix());
        }
        if (properties.internalPrefix() != null) {
            stores.internalPrefix(properties.internalPrefix());
        }
        if (properties.mode() != null) {
            stores.mode(RedisMode.valueOf(properties.mode().name()));
        }
        if (properties.minReplicas() != null) {
            stores.minReplicas(properties.minReplicas());
        }
        return stores;
    }

    /** In the order in which the factory itself decides. */
    private RedisStores.Builder topology() {
        if (configuration instanceof RedisConfiguration.StaticMasterReplicaConfiguration) {
            throw new NoLockStoreException(
                    "The application's Redis is a list of static masters and replicas, of which none is known to be the master",
                    "Set holdfast.store to the URI of the master, for example redis://master:6379");
        }
        if (configuration instanceof RedisSentinelConfiguration sentinel) {
            return RedisStores.sentinel(sentinels(sentinel));
        }
        if (configuration instanceof RedisClusterConfiguration cluster) {
            List<RedisURI> nodes = new ArrayList<>();
            for (RedisNode node : cluster.getClusterNodes()) {
                nodes.add(server(host(node), port(node), 0));
            }
            return RedisStores.cluster(nodes);
        }
        if (configuration instanceof RedisStandaloneConfiguration server) {
            return RedisStores.standalone(server(server.getHostName(), server.getPort(), server.getDatabase()));
        }
        throw new NoLockStoreException(
                "The application's Redis is configured by a "
                        + configuration.getClass().getName(),
                "Use a single server, Sentinel or Cluster, or set holdfast.store");
    }

    private RedisURI server(String host, int port, int database) {
        RedisURI.Builder uri = RedisURI.Builder.redis(host, port).withDatabase(database);
        if (configuration instanceof RedisConfiguration.WithAuthentication login) {
            authenticate(uri, login.getUsername(), login.getPassword());
        }
        RedisURI made = uri.build();
        applyClient(made);
        client.getRedisCredentialsProviderFactory()
                .map(credentials -> credentials.createCredentialsProvider(configuration))
                .ifPresent(made::setCredentialsProvider);
        return made;
    }

    private RedisURI sentinels(RedisSentinelConfiguration sentinel) {
        RedisURI.Builder uri = RedisURI.builder().withDatabase(sentinel.getDatabase());
        Optional<RedisCredentialsProvider> credentials = client.getRedisCredentialsProviderFactory()
                .map(factory -> factory.createSentinelCredentialsProvider(sentinel));
        for (RedisNode node : sentinel.getSentinels()) {
            RedisURI.Builder each = RedisURI.Builder.redis(host(node), port(node));
            authenticate(each, sentinel.getSentinelUsername(), sentinel.getSentinelPassword());
            RedisURI made = each.build();
            applyClient(made);
            credentials.ifPresent(made::setCredentialsProvider);
            uri.withSentinel(made);
        }
        authenticate(uri, sentinel.getUsername(), sentinel.getPassword());
        if (sentinel.getMaster() == null || sentinel.getMaster().getName() == null) {
            throw new NoLockStoreException(
                    "The application's Redis Sentinel has no master name", "Set spring.data.redis.sentinel.master");
        }
        RedisURI made = uri.withSentinelMasterId(sentinel.getMaster().getName()).build();
        applyClient(made);
        client.getRedisCredentialsProviderFactory()
                .map(factory -> factory.createCredentialsProvider(configuration))
                .ifPresent(made::setCredentialsProvider);
        return made;
    }

    private void applyClient(RedisURI uri) {
        client.getClientName().filter(StringUtils::hasText).ifPresent(uri::setClientName);
        uri.setSsl(client.isUseSsl());
        uri.setVerifyPeer(client.getVerifyMode());
        uri.setStartTls(client.isStartTls());
    }

    private static void authenticate(RedisURI.Builder uri, @Nullable String user, RedisPassword password) {
        if (StringUtils.hasText(user) && password.isPresent()) {
            uri.withAuthentication(user, password.get());
        } else {
            password.toOptional().ifPresent(uri::withPassword);
        }
    }

    private Optional<Duration> timeout(HoldfastProperties properties) {
        if (properties.commandTimeout() != null) {
            return Optional.of(properties.commandTimeout());
        }
        Duration applications = client.getCommandTimeout();
        if (applications.equals(UNSET_TIMEOUT) || applications.isZero()) {
            return Optional.empty();
        }
        return Optional.of(bounded(applications));
    }

    /** What {@code spring.data.redis.connect-timeout} has set; empty if it is the driver's default. */
    static Optional<Duration> connectTimeout(ClientOptions options) {
        Duration applications = options.getSocketOptions().getConnectTimeout();
        return applications.equals(SocketOptions.DEFAULT_CONNECT_TIMEOUT_DURATION)
                ? Optional.empty()
                : Optional.of(bounded(applications));
    }

    private static Duration bounded(Duration timeout) {
        Duration atLeast = timeout.compareTo(TIMEOUT_MIN) < 0 ? TIMEOUT_MIN : timeout;
        return atLeast.compareTo(TIMEOUT_MAX) > 0 ? TIMEOUT_MAX : atLeast;
    }

    /**
     * The factory shows only some kinds, and for others a standalone configuration of localhost, on which nobody's locks are.
     * Hence the field itself.
     */
    private static RedisConfiguration configuration(LettuceConnectionFactory factory) {
        Field field = ReflectionUtils.findField(LettuceConnectionFactory.class, CONFIGURATION);
        if (field != null && field.trySetAccessible()) {
            Object value = ReflectionUtils.getField(field, factory);
            if (value instanceof RedisConfiguration known) {
                return known;
            }
        }
        throw new NoLockStoreException(
                "This version of Spring Data Redis does not show how its connection factory is configured",
                "Set holdfast.store");
    }

    private static String host(RedisNode node) {
        return java.util.Objects.requireNonNull(node.getHost(), "a Redis node without a host");
    }

    private static int port(RedisNode node) {
        Integer port = node.getPort();
        return port == null ? RedisURI.DEFAULT_REDIS_PORT : port;
    }
}
