package io.holdfast.redis;

import io.holdfast.redis.server.RedisUris;
import io.holdfast.spi.LockStore;
import io.holdfast.spi.LockStoreProvider;
import io.holdfast.spi.StoreContext;
import java.net.URI;
import java.util.Set;

/**
 * Opens Redis and Valkey stores by URI:
 *
 * <ul>
 *   <li>{@code redis://[user:password@]host[:port][/database][?option=value&…]}: one server
 *   <li>{@code redis-sentinel://[user:password@]sentinel1[:26379],sentinel2,…[/database][?…]#master-name}: the server
 *       that the Sentinels call the master, even after a failover
 *   <li>{@code redis-cluster://[user:password@]node1[:6379],node2,…[?…]}: a Redis Cluster
 * </ul>
 *
 * <p>The schemes {@code rediss}, {@code rediss-sentinel} and {@code rediss-cluster} use TLS. Characters such as
 * {@code @ : / # ? %} in user or password are percent-encoded. Options:
 *
 * <ul>
 *   <li>{@code timeout}: the longest wait for the answer to a command, from {@code 10ms} to {@code 60s}; {@code 3s} by
 *       default
 *   <li>{@code clientName}: the name of the connections in {@code CLIENT LIST}; by default {@code holdfast:}, the
 *       client's name, host, process id and id
 *   <li>{@code namePrefix}: the beginning of the keys of locks, before the lock's name; {@code lock:} by default. An
 *       empty prefix shares locks by name with Redisson. All clients that share locks must have the same prefix
 *   <li>{@code internalPrefix}: the beginning of Holdfast's internal keys and channels; {@code holdfast} by default.
 *       All clients that share locks must have the same prefix
 *   <li>{@code ca}: a file with the certificates (PEM) to trust instead of the JVM's, for TLS
 *   <li>{@code cert} and {@code key}: files with the client's certificate and its key (PEM), for servers that require
 *       one
 *   <li>{@code mode}: {@code auto}, {@code lua} or {@code commands}, see {@link RedisMode}
 *   <li>{@code minReplicas}: the number of replicas that must have a new hold before its lease is handed out; 0 by
 *       default
 *   <li>{@code sentinelUser}, {@code sentinelPassword}: the login at the Sentinels, which never get that of the servers
 *   <li>{@code redissonChannels}: {@code both}, {@code sharded}, {@code plain} or {@code none}, see {@link
 *       RedissonChannels}
 * </ul>
 *
 * <p>The server must be Redis 5.0 or newer, or Valkey. A user with few rights (6.0 and newer) needs the two prefixes as
 * keys, two patterns of channels, and these commands:
 *
 * <pre>
 * ACL SETUSER app on resetchannels &gt;password ~lock:* ~holdfast:* &amp;holdfast:c:* &amp;redisson_lock__channel:*
 *   +evalsha +eval +script|load +time +del +type +exists +pttl +pexpire +pexpireat +get +set +incr
 *   +hlen +hget +hstrlen +hset +hdel +persist +hgetall
 *   +zadd +zrem +zremrangebyscore +zscore +zcard +zrank +zrange +zrevrange
 *   +publish +pubsub +subscribe +unsubscribe +ping +info +client
 * </pre>
 *
 * <p>With {@code minReplicas} also {@code +wait}; in a cluster {@code +cluster|nodes +cluster|myid +asking}, and if it
 * is 7.0 or newer {@code +spublish +ssubscribe +sunsubscribe}. The Sentinels' user needs
 * {@code &+switch-master +sentinel|get-master-addr-by-name +subscribe +ping +client} and nothing else.
 *
 * <p>Without the channels, locks work, but waiting clients are served late. {@code +script|load} and {@code +info} may
 * be missing.
 *
 * <p>With an empty {@code namePrefix}, a lock and Redisson's {@code RLock} of the same name exclude each other.
 */
public final class RedisLockStoreProvider implements LockStoreProvider {

    /** Creates a provider; for the service loader. */
    public RedisLockStoreProvider() {}

    @Override
    public Set<String> schemes() {
        return Set.of("redis", "rediss", "redis-sentinel", "rediss-sentinel", "redis-cluster", "rediss-cluster");
    }

    @Override
    public LockStore open(URI uri, StoreContext context) {
        return RedisOpening.open(RedisUris.parse(uri), context);
    }
}
