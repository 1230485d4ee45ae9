package io.holdfast.redis;

/**
 * In a Redis Cluster of servers 7.0 and newer: how the end of a lock is told to Redisson, and how Redisson's is heard.
 * Redisson 3.22 and later uses sharded channels there, earlier versions plain ones, and neither hears the other. Elsewhere
 * all versions use plain channels, and this does not matter.
 *
 * <p>It does not touch exclusion, only how soon a Redisson client that waits is served: one that hears nothing comes back
 * when the lease that it saw has run out.
 */
public enum RedissonChannels {
    /**
     * All versions hear. The default, because it is the only choice that is right for every fleet, also while it is
     * upgraded. A plain message goes to all nodes of the cluster.
     */
    BOTH,
    /** Only Redisson 3.22 and later hears; releases are no load for other nodes. */
    SHARDED,
    /** Only Redisson before 3.22, or with {@code shardedSubscriptionMode} off, hears. */
    PLAIN
}
