package io.holdfast.redis;

import io.holdfast.spi.LockStore;
import io.holdfast.spi.LockStoreProvider;
import io.holdfast.spi.StoreContext;
import java.net.URI;
import java.util.Set;

/**
 * Opens {@code redis://[user:password@]host[:port][/database][?option=value&…]}, and {@code rediss://…} for TLS.
 *
 * <p>Characters such as {@code @ : / # ? %} in user or password are percent-encoded. Options:
 *
 * <ul>
 *   <li>{@code timeout}: how long to wait for the answer to a command, from {@code 10ms} to {@code 60s}; {@code 3s} by
 *       default
 *   <li>{@code clientName}: how the connections are called in {@code CLIENT LIST}; {@code holdfast} by default
 *   <li>{@code prefix}: what the names of Holdfast's own keys and channels begin with; {@code holdfast} by default. It
 *       must be the same for all clients that share locks
 *   <li>{@code ca}: a file with the certificates (PEM) to trust instead of the JVM's, for {@code rediss}
 * </ul>
 *
 * <p>The server is Redis 5.0 or newer, or Valkey. A user with few rights (6.0 and newer) needs the locks' names and the
 * prefix as keys, two patterns of channels, and these commands:
 *
 * <pre>
 * ACL SETUSER app on &gt;password ~order:* ~holdfast:* &amp;holdfast:c:* &amp;redisson_lock__channel:*
 *   +evalsha +eval +script|load +time +del +type +pttl +pexpire +get +set
 *   +hlen +hget +hset +hdel +hexists +hkeys +hvals +hmget +hgetall
 *   +zadd +zrem +zscore +zcard +zrank +zrange +zrevrange
 *   +publish +pubsub +subscribe +unsubscribe +ping +info +client
 * </pre>
 *
 * <p>Without the channels, locks work, but those who wait are served late; without {@code +script|load} and
 * {@code +info}, nothing is lost.
 *
 * <p>A lock of a name excludes Redisson's {@code RLock} of the same name, and is excluded by it.
 */
public final class RedisLockStoreProvider implements LockStoreProvider {

    /** For the service loader. */
    public RedisLockStoreProvider() {}

    @Override
    public Set<String> schemes() {
        return Set.of("redis", "rediss");
    }

    @Override
    public LockStore open(URI uri, StoreContext context) {
        return RedisOpening.open(RedisUris.parse(uri), context);
    }
}
