package io.holdfast.redis.server;

import io.holdfast.redis.RedisMode;
import io.holdfast.redis.RedissonChannels;
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
 * What a store is opened with, whether a URI said it ({@link RedisUris}) or code ({@code RedisStores}).
 *
 * @param nodes {@link Topology#SERVER}: the server; {@link Topology#SENTINEL}: one URI that contains the Sentinels;
 *     {@link Topology#CLUSTER}: nodes to learn the others from. With login, TLS, database, client name and timeout in
 *     each. Never changed
 * @param timeout how long to wait for the answer to a command
 * @param connectTimeout how long to wait for a connection; no longer than for an answer
 * @param namePrefix what the keys of locks begin with, before the name; may be empty
 * @param internalPrefix what Holdfast's internal keys and channels begin with
 * @param minReplicas how many replicas must have a new hold before its lease is handed out; 0: not asked for
 * @param redissonChannels matters only in a cluster of servers 7.0 and newer
 * @param files what a URI says of TLS
 * @param ssl how TLS is done, as code says; null for as {@code files} or the driver's defaults say
 * @param resources the user's threads, which are not shut down here; null for threads of our own
 * @param passwordAdvice where a missing password is to be set, for people
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
        String passwordAdvice) {

    /** Who is talked to. */
    public enum Topology {
        /** One server: always the same address (which a name server may point elsewhere). */
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

    /** The URI that stands for all of them: login, TLS, database and client name are the same everywhere. */
    public RedisURI node() {
        return nodes.get(0);
    }

    /** How names become keys. */
    public LockKeys lockKeys() {
        return new LockKeys(namePrefix, internalPrefix);
    }

    /** The same on these threads. */
    public RedisSettings with(ClientResources threads) {
        return new RedisSettings(
                topology,
                nodes,
                timeout,
                connectTimeout,
                namePrefix,
                internalPrefix,
                mode,
                minReplicas,
                redissonChannels,
                files,
                ssl,
                threads,
                passwordAdvice);
    }

    /** The file with the certificates to trust; null for those of {@code ssl} or the JVM. */
    @Nullable
    Path ca() {
        return files.ca();
    }

    boolean tls() {
        return node().isSsl();
    }

    /** The ACL user, for messages; null for the default one, or if whoever provides the login does not say at once. */
    @Nullable
    String user() {
        RedisCredentials credentials =
                node().getCredentialsProvider().resolveCredentials().toFuture().getNow(null);
        return credentials != null && credentials.hasUsername() ? credentials.getUsername() : null;
    }

    /** Whether nobody is asked for the login when a connection is made. */
    public boolean hasLoginAtHand() {
        return Stream.concat(nodes.stream(), nodes.stream().flatMap(node -> node.getSentinels().stream()))
                .allMatch(node -> node.getCredentialsProvider()
                        instanceof RedisCredentialsProvider.ImmediateRedisCredentialsProvider);
    }

    /** The URI without login and options. */
    public String describe() {
        String scheme = tls() ? topology.scheme.replaceFirst("redis", "rediss") : topology.scheme;
        return switch (topology) {
            case SERVER -> scheme + "://" + hosts() + "/" + node().getDatabase();
            case SENTINEL -> scheme + "://" + hosts() + "/" + node().getDatabase() + "#" + node().getSentinelMasterId();
            case CLUSTER -> scheme + "://" + hosts();
        };
    }

    /** The hosts of the URI, with ports. */
    String hosts() {
        List<RedisURI> named = topology == Topology.SENTINEL ? node().getSentinels() : nodes;
        return named.stream().map(RedisSettings::address).collect(Collectors.joining(","));
    }

    /** How often each connection is used at least, so that a dead one is noticed. */
    public Duration heartbeat() {
        return Duration.ofMillis(Math.max(1_000, Math.min(5_000, timeout.toMillis())));
    }

    /** Whether a connection to this address leads to a Sentinel: their ports are not those of the servers. */
    public boolean isSentinel(InetSocketAddress address) {
        return node().getSentinels().stream().anyMatch(sentinel -> sentinel.getPort() == address.getPort());
    }

    /** A record would print what it contains. */
    @Override
    public String toString() {
        return describe();
    }

    public static String address(RedisURI uri) {
        String host = uri.getSocket() != null ? uri.getSocket() : uri.getHost();
        return (host.indexOf(':') < 0 ? host : "[" + host + "]") + ":" + uri.getPort();
    }
}
