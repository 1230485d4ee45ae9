package io.holdfast.redis.connect;

import io.lettuce.core.resource.ThreadFactoryProvider;
import io.netty.util.concurrent.DefaultThreadFactory;
import java.util.concurrent.ThreadFactory;

/**
 * Names the driver's threads {@code holdfast-redis-…}, so that an operator can tell them from those of the
 * application's own Redis connections.
 */
final class ThreadNames implements ThreadFactoryProvider {

    private static final String DRIVERS = "lettuce-";

    @Override
    public ThreadFactory getThreadFactory(String poolName) {
        String pool = poolName.startsWith(DRIVERS) ? poolName.substring(DRIVERS.length()) : poolName;
        return new DefaultThreadFactory("holdfast-redis-" + pool, true);
    }
}
