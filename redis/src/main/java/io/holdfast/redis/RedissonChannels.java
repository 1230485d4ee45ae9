package io.holdfast.redis;

/**
 * Which channels announce the end of a lock to Redisson in a Redis Cluster of servers 7.0 and newer, and which channels
 * of Redisson's this client listens to. Redisson 3.22 and later uses sharded channels there, earlier versions use plain
 * ones, and neither hears the other. Elsewhere all versions use plain channels, and this setting has no effect.
 *
 * <p>The setting does not affect exclusion. A Redisson client that waits and hears nothing asks again when the lease
 * that it saw has run out.
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
    PLAIN
}
