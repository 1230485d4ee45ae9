package io.holdfast.redis;

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
 * Opens Redis stores that are configured in code, where a URI cannot say it all:
 *
 * <pre>{@code
 * RedisURI uri = RedisURI.Builder.redis("lock-server").withAuthentication(credentialsProvider).build();
 * LockClient locks = LockClient.builder()
 *     .store(RedisStores.standalone(uri).clientResources(shared).timeout(Duration.ofSeconds(1))::open)
 *     .build();
 * }</pre>
 *
 * <p>What a {@link RedisURI} says of login, TLS, database and client name is used; its timeout is not, see
 * {@link Builder#timeout}. The URIs are copied.
 */
public final class RedisStores {

    private RedisStores() {}

    /** One server. If it has replicas, this must be the master, or a name that leads to it. */
    public static Builder standalone(RedisURI server) {
        if (!server.getSentinels().isEmpty()) {
            throw new IllegalArgumentException(
                    "standalone: a URI with Sentinels (expected: a server's; use RedisStores.sentinel)");
        }
        return new Builder(Topology.SERVER, List.of(server));
    }

    /**
     * The server that Sentinels call the master; after a failover, the new one.
     *
     * @param sentinels a URI with the Sentinels in it and the master's name, as {@link RedisURI.Builder#sentinel} makes
     *     it. Its login is the one for the servers; each Sentinel's own URI has the one for that Sentinel
     */
    public static Builder sentinel(RedisURI sentinels) {
        if (sentinels.getSentinels().isEmpty() || sentinels.getSentinelMasterId() == null) {
            throw new IllegalArgumentException(
                    "sentinel: a URI without Sentinels or master name (expected: as of RedisURI.Builder.sentinel)");
        }
        return new Builder(Topology.SENTINEL, List.of(sentinels));
    }

    /**
     * A Redis Cluster.
     *
     * @param nodes some of its nodes, of which one must be reachable to learn the others from. The login, TLS and client
     *     name of the first are used for all. None names a database other than 0
     */
    public static Builder cluster(Collection<RedisURI> nodes) {
        if (nodes.isEmpty()) {
            throw new IllegalArgumentException("cluster: no node (expected: at least one)");
        }
        for (RedisURI node : nodes) {
            // The driver's cluster ignores it; connections to a node would ask for it, and be refused.
            if (node.getDatabase() != 0) {
                throw new IllegalArgumentException("cluster: database " + node.getDatabase()
                        + " (expected: none; Holdfast uses database 0 of a cluster)");
            }
        }
        return new Builder(Topology.CLUSTER, nodes);
    }

    /** What a store is opened with. Not thread-safe; {@link #open} may be called more than once. */
    public static final class Builder {

        private final Topology topology;
        private final List<RedisURI> nodes;
        private @Nullable ClientResources resources;
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

        /** Threads to share with other users of Lettuce. They are not shut down with the store. */
        public Builder clientResources(ClientResources shared) {
            this.resources = shared;
            return this;
        }

        /** How TLS is done, for URIs with TLS. Without this, as the JVM does it. */
        public Builder sslOptions(SslOptions options) {
            this.ssl = options;
            return this;
        }

        /**
         * How long to wait for the answer to a command, and for a connection; 3 seconds by default.
         *
         * @throws IllegalArgumentException if it is not from 10 milliseconds to 60 seconds
         */
        public Builder timeout(Duration answer) {
            this.timeout = RedisUris.checkTimeout(answer, answer.toString());
            return this;
        }

        /**
         * How long to wait for a connection, if not as long as for an answer; longer than that counts as equally long.
         *
         * @throws IllegalArgumentException if it is not from 10 milliseconds to 60 seconds
         */
        public Builder connectTimeout(Duration connection) {
            this.connectTimeout = RedisUris.checkTimeout(connection, connection.toString());
            return this;
        }

        /**
         * Sets what the Redis keys of locks begin with; {@code lock:} by default. The key of a lock is this prefix and its
         * name, so that no lock meets a key of the application. Empty to share locks by name with Redisson or with
         * hand-written {@code SET NX} locks. It must be the same for all clients that share locks.
         *
         * @param start in a Redis Cluster, braces in it that are a hash tag put all locks into one slot
         * @throws IllegalArgumentException if it is not 0 to 64 ASCII characters without spaces
         */
        public Builder namePrefix(String start) {
            this.namePrefix = RedisUris.checkNamePrefix(start);
            return this;
        }

        /**
         * Sets what the names of Holdfast's internal keys (queues, tokens) and channels begin with; {@code holdfast} by
         * default. It must be the same for all clients that share locks. The keys of locks begin with
         * {@link #namePrefix}.
         *
         * @throws IllegalArgumentException if it is not 1 to 64 ASCII characters without spaces and braces
         */
        public Builder internalPrefix(String start) {
            this.internalPrefix = RedisUris.checkInternalPrefix(start);
            return this;
        }

        /** How the locks are kept; {@link RedisMode#AUTO} by default. */
        public Builder mode(RedisMode how) {
            this.mode = how;
            return this;
        }

        /**
         * How many replicas must have a new hold before its lease is handed out; by default 0: they are not asked. If too
         * few have it in time, the hold is given back, and tried again within the caller's wait time.
         *
         * @throws IllegalArgumentException if it is not from 0 to 100
         */
        public Builder minReplicas(int replicas) {
            this.minReplicas = RedisUris.checkReplicas(replicas, Integer.toString(replicas));
            return this;
        }

        /**
         * What an error message tells a person to do where the server wants a password and there is none, such as "set
         * spring.data.redis.password".
         */
        public Builder passwordAdvice(String advice) {
            this.passwordAdvice = Objects.requireNonNull(advice, "advice");
            return this;
        }

        /** How locks are shared with Redisson in a cluster; {@link RedissonChannels#BOTH} by default. */
        public Builder redissonChannels(RedissonChannels channels) {
            this.redissonChannels = channels;
            return this;
        }

        /**
         * Connects. Blocks until the servers have answered or could not be reached.
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
                        .forEach(sentinel ->
                                to.withSentinel(RedisURI.builder(sentinel).build()));
            }
            return to.build();
        }
    }
}
