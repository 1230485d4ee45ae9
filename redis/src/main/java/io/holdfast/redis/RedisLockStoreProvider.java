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
        return RedisOpening.open(RedisSettings.parse(uri), context);
    }
}
