package io.holdfast.redis;

import io.holdfast.redis.server.LoginProvider;
import io.holdfast.redis.server.RedisSettings;
import io.holdfast.redis.server.RedisSettings.Topology;
import io.holdfast.redis.server.RedisUris;
import io.holdfast.redis.server.TlsFiles;
import io.holdfast.spi.LockStore;
import io.holdfast.spi.StoreContext;
import io.lettuce.core.RedisURI;
import io.lettuce.core.SslOptions;
import io.lettuce.core.resource.ClientResources;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Opens Redis stores that are configured in code, for settings that a URI cannot carry:
 *
 * <pre>{@code
 * RedisURI uri = RedisURI.Builder.redis("lock-server").withAuthentication(credentialsProvider).build();
 * LockClient locks = LockClient.builder()
 *     .store(RedisStores.standalone(uri).clientResources(shared).timeout(Duration.ofSeconds(1))::open)
 *     .build();
 * }</pre>
 *
 * <p>The store uses the login, TLS, database and client name of a {@link RedisURI}, but not its timeout, see
 * {@link Builder#timeout}. The URIs are copied.
 */
public final class RedisStores {

    private RedisStores() {}

    /** Returns a builder for one server. If the server has replicas, the URI must lead to the master. */
    public static Builder standalone(RedisURI server) {
        if (!server.getSentinels().isEmpty()) {
            throw new IllegalArgumentException(
                    "standalone: a URI with Sentinels (expected: a server's; use RedisStores.sentinel)");
        }
        return new Builder(Topology.SERVER, List.of(server));
    }

    /**
     * Returns a builder for the server that Sentinels call the master; after a failover, the new one.
     *
     * @param sentinels a URI with the Sentinels and the master's name, as {@link RedisURI.Builder#sentinel} makes it.
     *     Its login is for the servers; the URI of each Sentinel has the login for that Sentinel
     */
    public static Builder sentinel(RedisURI sentinels) {
        if (sentinels.getSentinels().isEmpty() || sentinels.getSentinelMasterId() == null) {
            throw new IllegalArgumentException(
                    "sentinel: a URI without Sentinels or master name (expected: as of RedisURI.Builder.sentinel)");
        }
        return new Builder(Topology.SENTINEL, List.of(sentinels));
    }

    /**
     * Returns a builder for a Redis Cluster.
     *
     * @param nodes some of its nodes; one of them must be reachable, and knows the others. The login, TLS and client
     *     name of the first node are used for all. None may name a database other than 0
     */
    public static Builder cluster(Collection<RedisURI> nodes) {
        if (nodes.isEmpty()) {
            throw new IllegalArgumentException("cluster: no node (expected: at least one)");
        }
        for (RedisURI node : nodes) {
            // The driver's cluster ignores the database, but connections to a node would select it and be refused.
            if (node.getDatabase() != 0) {
                throw new IllegalArgumentException("cluster: database " + node.getDatabase()
                        + " (expected: none; Holdfast uses database 0 of a cluster)");
            }
        }
        return new Builder(Topology.CLUSTER, nodes);
    }

    /** The settings of a store. Not thread-safe; {@link #open} may be called more than once. */
    public static final class Builder {

        private final Topology topology;
        private final List<RedisURI> nodes;
        private @Nullable ClientResources resources;
        private @Nullable ClientResources model;
        private @Nullable SslOptions ssl;
        private Duration timeout = RedisUris.DEFAULT_TIMEOUT;
        private @Nullable Duration connectTimeout;
        private String namePrefix = RedisUris.DEFAULT_NAME_PREFIX;
        private String internalPrefix = RedisUris.DEFAULT_INTERNAL_PREFIX;
        private RedisMode mode = RedisMode.AUTO;
        private int minReplicas;
        private RedissonChannels redissonChannels = RedissonChannels.BOTH;

        private String passwordAdvice = "set it with RedisURI.Builder.withPassword";

        private Builder(Topology topology, Collection<RedisURI> nodes) {
            this.topology = topology;
            this.nodes = List.copyOf(nodes);
        }

        /** Sets threads to share with other users of Lettuce. The store does not shut them down. */
        public Builder clientResources(ClientResources shared) {
            this.resources = shared;
            return this;
        }

        /**
         * Takes the resolvers, the tracing, the latency recorder and the netty customizer of these resources, but no
         * threads: the store then works on after others have shut the resources down. {@link #clientResources} replaces
         * this setting.
         */
        public Builder settingsOf(ClientResources model) {
            this.model = model;
            return this;
        }

        /** Sets the TLS options for URIs with TLS; the JVM's defaults otherwise. */
        public Builder sslOptions(SslOptions options) {
            this.ssl = options;
            return this;
        }

        /**
         * Sets the longest wait for the answer to a command, and for a connection; 3 seconds by default.
         *
         * @throws IllegalArgumentException if it is not from 10 milliseconds to 60 seconds
         */
        public Builder timeout(Duration answer) {
            this.timeout = RedisUris.checkTimeout(answer, answer.toString());
            return this;
        }

        /**
         * Sets the longest wait for a connection; by default, and at most, the {@link #timeout}.
         *
         * @throws IllegalArgumentException if it is not from 10 milliseconds to 60 seconds
         */
        public Builder connectTimeout(Duration connection) {
            this.connectTimeout = RedisUris.checkTimeout(connection, connection.toString());
            return this;
        }

        /**
         * Sets the beginning of the Redis keys of locks; {@code lock:} by default. The key of a lock is this prefix and
         * the lock's name, so that no lock has a key of the application. An empty prefix shares locks by name with
         * Redisson or with hand-written {@code SET NX} locks. All clients that share locks must have the same prefix.
         *
         * @param start in a Redis Cluster, a hash tag (in braces) in it puts all locks into one slot
         * @throws IllegalArgumentException if it is not 0 to 64 ASCII characters without spaces
         */
        public Builder namePrefix(String start) {
            this.namePrefix = RedisUris.checkNamePrefix(start);
            return this;
        }

        /**
         * Sets the beginning of Holdfast's internal keys (queues, tokens) and channels; {@code holdfast} by default.
         * All clients that share locks must have the same prefix. The keys of locks begin with {@link #namePrefix}.
         *
         * @throws IllegalArgumentException if it is not 1 to 64 ASCII characters without spaces and braces
         */
        public Builder internalPrefix(String start) {
            this.internalPrefix = RedisUris.checkInternalPrefix(start);
            return this;
        }

        /** Sets how locks are kept; {@link RedisMode#AUTO} by default. */
        public Builder mode(RedisMode how) {
            this.mode = how;
            return this;
        }

        /**
         * Sets the number of replicas that must have a new hold before its lease is handed out; 0 by default. If too
         * few confirm it in time, the hold is given back, and tried again within the caller's wait time.
         *
         * @throws IllegalArgumentException if it is not from 0 to 100
         */
        public Builder minReplicas(int replicas) {
            this.minReplicas = RedisUris.checkReplicas(replicas, Integer.toString(replicas));
            return this;
        }

        /**
         * Sets the advice in the error messages of a missing or a wrong password, such as "set
         * spring.data.redis.password".
         */
        public Builder passwordAdvice(String advice) {
            this.passwordAdvice = Objects.requireNonNull(advice, "advice");
            return this;
        }

        /** Sets which of Redisson's channels announce a release; {@link RedissonChannels#BOTH} by default. */
        public Builder redissonChannels(RedissonChannels channels) {
            this.redissonChannels = channels;
            return this;
        }

        /**
         * Opens the store. Blocks until the servers have answered or could not be reached.
         *
         * @throws io.holdfast.spi.StoreException if a server does not answer or refuses
         * @throws IllegalArgumentException if the name prefix begins with the internal prefix and a colon
         */
        public LockStore open(StoreContext context) {
            return RedisOpening.open(settings(), context);
        }

        RedisSettings settings() {
            RedisUris.checkApart(namePrefix, internalPrefix);
            List<RedisURI> own = new ArrayList<>();
            for (RedisURI node : nodes) {
                own.add(copy(node));
            }
            return new RedisSettings(
                    topology,
                    List.copyOf(own),
                    timeout,
                    connectTimeout == null || connectTimeout.compareTo(timeout) > 0 ? timeout : connectTimeout,
                    namePrefix,
                    internalPrefix,
                    mode,
                    minReplicas,
                    redissonChannels,
                    TlsFiles.NONE,
                    ssl,
                    resources,
                    model,
                    passwordAdvice);
        }

        private RedisURI copy(RedisURI from) {
            RedisURI.Builder to = RedisURI.builder(from).withTimeout(timeout);
            if (from.getClientName() == null) {
                to.withClientName(RedisUris.DEFAULT_CLIENT_NAME);
            }
            if (topology == Topology.SENTINEL) {
                to.withSentinelMasterId(from.getSentinelMasterId());
                from.getSentinels()
                        .forEach(sentinel -> to.withSentinel(
                                LoginProvider.mark(RedisURI.builder(sentinel).build())));
            }
            return LoginProvider.mark(to.build());
        }
    }
}
