/** Stores that keep locks in Redis and Valkey, through Lettuce: one server, Sentinel, Cluster, or RedLock. */
module io.holdfast.redis {
    requires transitive io.holdfast.core;
    requires static transitive org.jspecify;

    // RedisStores takes the driver's RedisURI, SslOptions and ClientResources.
    requires transitive lettuce.core;
    requires io.holdfast.quorum;
    requires io.netty.buffer;
    requires io.netty.common;
    requires io.netty.handler;
    requires io.netty.transport;
    // The driver uses it, and cannot say so: it is an automatic module in its present versions.
    requires io.netty.resolver.dns;
    requires reactor.core;

    exports io.holdfast.redis;

    provides io.holdfast.spi.LockStoreProvider with
            io.holdfast.redis.RedisLockStoreProvider,
            io.holdfast.redis.RedlockProvider;
}
