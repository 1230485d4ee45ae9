package io.holdfast.redis.connect;

import io.holdfast.redis.RedissonChannels;

/**
 * How scripts send messages. Each way is a version of the scripts of its own: one that named a command which its server
 * does not know would have to find out at every release.
 */
public enum Publishing {
    /** Not in a cluster, or in one before 7.0. */
    PLAIN("'PUBLISH'", "{{'PUBLISH', 'NUMSUB'}}"),
    /** Redisson of any version hears that a lock has become free. */
    SHARDED_AND_REDISSON_BOTH("'SPUBLISH'", "{{'SPUBLISH', 'SHARDNUMSUB'}, {'PUBLISH', 'NUMSUB'}}"),
    /** Only Redisson 3.22 and later, with its sharded subscriptions, does. */
    SHARDED_AND_REDISSON_SHARDED("'SPUBLISH'", "{{'SPUBLISH', 'SHARDNUMSUB'}}"),
    /** Only Redisson before 3.22, or with sharded subscriptions off, does. */
    SHARDED_AND_REDISSON_PLAIN("'SPUBLISH'", "{{'PUBLISH', 'NUMSUB'}}");

    private final String grants;
    private final String releases;

    Publishing(String grants, String releases) {
        this.grants = grants;
        this.releases = releases;
    }

    /** What a script begins with. */
    public String head() {
        return "local GRANT, RELEASES = " + grants + ", " + releases + "\n";
    }

    public boolean sharded() {
        return this != PLAIN;
    }

    /** Whether Redisson's clients with plain subscriptions are told of a release. */
    public boolean releasesPlain() {
        return releases.contains("'PUBLISH'");
    }

    /** Whether Redisson's clients with sharded subscriptions are. */
    public boolean releasesSharded() {
        return releases.contains("'SPUBLISH'");
    }

    public static Publishing sharded(RedissonChannels redisson) {
        return switch (redisson) {
            case BOTH -> SHARDED_AND_REDISSON_BOTH;
            case SHARDED -> SHARDED_AND_REDISSON_SHARDED;
            case PLAIN -> SHARDED_AND_REDISSON_PLAIN;
        };
    }
}
