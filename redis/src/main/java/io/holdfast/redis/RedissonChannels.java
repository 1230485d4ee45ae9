package io.holdfast.redis;

/**
 * Which of Redisson's channels announce the end of a lock. In a Redis Cluster of servers 7.0 and newer, Redisson 3.22
 * and later uses sharded channels, earlier versions use plain ones, and neither hears the other. Elsewhere all versions
 * use plain channels, and every setting but {@link #NONE} means the same.
 *
 * <pre>{@code
 * LockClient one = LockClient.connect("redis-cluster://node1,node2?namePrefix=&redissonChannels=sharded");
 *
 * List<RedisURI> nodes = List.of(RedisURI.create("redis://node1"), RedisURI.create("redis://node2"));
 * LockClient two = LockClient.builder()      // the same in code
 *         .store(RedisStores.cluster(nodes).namePrefix("").redissonChannels(RedissonChannels.SHARDED)::open)
 *         .build();
 * }</pre>
 *
 * <p>The setting does not affect exclusion. A Redisson client that waits and hears nothing asks again when the lease
 * that it saw has run out. Clients of the mode {@link RedisMode#COMMANDS} listen to the same channels and always send
 * to them.
 */
public enum RedissonChannels {
    /**
     * All versions of Redisson hear. This is the default, because it is right for every fleet, even during an upgrade.
     * A plain message goes to all nodes of the cluster.
     */
    BOTH,
    /** Only Redisson 3.22 and later hears. Releases do not load the other nodes. */
    SHARDED,
    /** Only Redisson before 3.22 hears, or later versions with {@code shardedSubscriptionMode} off. */
    PLAIN,
    /**
     * Nobody hears. A release costs the server less by one message, for a fleet in which no client waits by Redisson or
     * in the mode {@link RedisMode#COMMANDS}; one that does is served late. In a cluster, this client does not hear
     * Redisson's releases either.
     */
    NONE
}
