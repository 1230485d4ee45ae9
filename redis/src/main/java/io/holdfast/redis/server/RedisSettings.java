package io.holdfast.redis.server;

import io.holdfast.redis.RedisMode;
import io.holdfast.redis.RedissonChannels;
import io.holdfast.spi.StoreContext;
import io.lettuce.core.RedisCredentials;
import io.lettuce.core.RedisCredentialsProvider;
import io.lettuce.core.RedisURI;
import io.lettuce.core.SslOptions;
import io.lettuce.core.resource.ClientResources;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The settings of a store, from a URI ({@link RedisUris}) or from code ({@code RedisStores}).
 *
 * @param nodes {@link Topology#SERVER}: the server; {@link Topology#SENTINEL}: one URI that contains the Sentinels;
 *     {@link Topology#CLUSTER}: nodes that know the others. Each has login, TLS, database, client name and timeout.
 *     Only {@link #nameConnections} changes them
 * @param timeout the longest wait for the answer to a command
 * @param connectTimeout the longest wait for a connection; not longer than {@code timeout}
 * @param namePrefix the beginning of the keys of locks, before the name; may be empty
 * @param internalPrefix the beginning of Holdfast's internal keys and channels
 * @param minReplicas the number of replicas that must have a new hold before its lease is handed out; 0 for none
 * @param redissonChannels which of Redisson's channels announce a release
 * @param files the TLS files that a URI names
 * @param ssl the TLS options that code sets; null for those of {@code files} or the driver
 * @param resources the user's threads, which the store does not shut down; null for threads of the store's own
 * @param model the user's resources from which everything but the threads is taken; null for the driver's defaults
 * @param passwordAdvice tells a person where to set the password
 */
public record RedisSettings(
        Topology topology,
        List<RedisURI> nodes,
        Duration timeout,
        Duration connectTimeout,
        String namePrefix,
        String internalPrefix,
        RedisMode mode,
        int minReplicas,
        RedissonChannels redissonChannels,
        TlsFiles files,
        @Nullable SslOptions ssl,
        @Nullable ClientResources resources,
        @Nullable ClientResources model,
        String passwordAdvice) {

    /** The kinds of servers. */
    public enum Topology {
        /** One server, always at the same address (which a name server may point elsewhere). */
        SERVER("redis"),
        /** The server that the Sentinels call the master. */
        SENTINEL("redis-sentinel"),
        /** The masters of a Redis Cluster, each with a part of the slots. */
        CLUSTER("redis-cluster");

        final String scheme;

        Topology(String scheme) {
            this.scheme = scheme;
        }
    }

    static final int REPLICAS_MAX = 100;

    /**
     * Gives connections that the user has not named the client's title and id, so that a server's list of connections
     * says whose they are. To be called before they are made.
     */
    public void nameConnections(StoreContext context) {
        if (context.title().isEmpty()) {
            return;
        }
        // Servers refuse blanks and control characters.
        String name = (RedisUris.DEFAULT_CLIENT_NAME + ":" + context.title() + ":" + context.clientId())
                .replaceAll("[^!-~]", "_");
        Stream.concat(nodes.stream(), nodes.stream().flatMap(node -> node.getSentinels().stream()))
                .filter(node -> RedisUris.DEFAULT_CLIENT_NAME.equals(node.getClientName()))
                .forEach(node -> node.setClientName(name));
    }

    /** Returns a URI with what all URIs have in common: login, TLS, database and client name. */
    public RedisURI node() {
        return nodes.get(0);
    }

    /** Returns the mapping of lock names to keys. */
    public LockKeys lockKeys() {
        return new LockKeys(namePrefix, internalPrefix);
    }

    /** Returns the file with the certificates to trust; null for those of {@code ssl} or the JVM. */
    @Nullable
    Path ca() {
        return files.ca();
    }

    boolean tls() {
        return node().isSsl();
    }

    /** Returns the ACL user, for messages; null for the default user, or if the login is not available at once. */
    @Nullable
    String user() {
        RedisCredentials credentials =
                node().getCredentialsProvider().resolveCredentials().toFuture().getNow(null);
        return credentials != null && credentials.hasUsername() ? credentials.getUsername() : null;
    }

    /**
     * Returns whether every login is available at once, so that connecting does not wait for a credentials provider.
     */
    public boolean hasLoginAtHand() {
        return Stream.concat(nodes.stream(), nodes.stream().flatMap(node -> node.getSentinels().stream()))
                .allMatch(node -> node.getCredentialsProvider()
                        instanceof RedisCredentialsProvider.ImmediateRedisCredentialsProvider);
    }

    /** Returns the URI without login and options. */
    public String describe() {
        String scheme = tls() ? topology.scheme.replaceFirst("redis", "rediss") : topology.scheme;
        return switch (topology) {
            case SERVER -> scheme + "://" + hosts() + "/" + node().getDatabase();
            case SENTINEL -> scheme + "://" + hosts() + "/" + node().getDatabase() + "#" + node().getSentinelMasterId();
            case CLUSTER -> scheme + "://" + hosts();
        };
    }

    /** Returns the hosts of the URI, with ports. */
    String hosts() {
        List<RedisURI> named = topology == Topology.SENTINEL ? node().getSentinels() : nodes;
        return named.stream().map(RedisSettings::address).collect(Collectors.joining(","));
    }

    /** Returns the longest time for which a connection stays unused, so that a dead one is noticed. */
    public Duration heartbeat() {
        return Duration.ofMillis(Math.max(1_000, Math.min(5_000, timeout.toMillis())));
    }

    /** Returns the time without a byte after which a connection is dead: a heartbeat and the time for its answer. */
    public Duration silence() {
        return heartbeat().plus(timeout);
    }

    /**
     * Returns how long it takes to notice a dead connection, and to be answered on a new one. A host that hangs still
     * accepts connections, so the first new one may get no answer: a second one may lead to another host of the name.
     */
    public Duration recovery() {
        return silence().plus(timeout.multipliedBy(2));
    }

    /** Returns whether a connection to this address leads to a Sentinel: their ports are not those of the servers. */
    public boolean isSentinel(InetSocketAddress address) {
        return node().getSentinels().stream().anyMatch(sentinel -> sentinel.getPort() == address.getPort());
    }

    /** Returns no secrets, unlike a record's own method. */
    @Override
    public String toString() {
        return describe();
    }

    public static String address(RedisURI uri) {
        String host = uri.getSocket() != null ? uri.getSocket() : uri.getHost();
        return (host.indexOf(':') < 0 ? host : "[" + host + "]") + ":" + uri.getPort();
    }
}
