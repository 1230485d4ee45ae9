package io.holdfast.redis;

/**
 * The channels of Redisson that announce the end of a lock. In a Redis Cluster of servers 7.0 and newer, Redisson 3.22
 * and later uses sharded channels, earlier versions use plain ones, and neither receives the other's messages.
 * Elsewhere all versions use plain channels, and every setting but {@link #NONE} means the same.
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
 * <p>The setting does not affect exclusion. A Redisson client that waits and receives nothing asks again when the lease
 * that it saw has run out. Clients in mode {@link RedisMode#COMMANDS} listen to the same channels and always send
 * to them.
 */
public enum RedissonChannels {
    /**
     * All versions of Redisson receive releases. This is the default, because it is right for every fleet, even during
     * an upgrade. A plain message goes to all nodes of the cluster.
     */
    BOTH,
    /** Only Redisson 3.22 and later receives releases. They do not load the other nodes. */
    SHARDED,
    /** Only Redisson before 3.22 receives releases, or later versions with {@code shardedSubscriptionMode} off. */
    PLAIN,
    /**
     * No client receives releases. Each release costs the server one message less. This is for a fleet in which no
     * client waits by Redisson or in mode {@link RedisMode#COMMANDS}; such a client is served late. In a cluster, this
     * client does not receive Redisson's releases either.
     */
    NONE
}
