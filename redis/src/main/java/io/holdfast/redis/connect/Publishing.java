package io.holdfast.redis.connect;

import io.holdfast.redis.RedissonChannels;

/**
 * The ways in which scripts send messages. Each way is a version of the scripts: a common version would have to find
 * out at every release which commands the server knows.
 */
public enum Publishing {
    /** Plain messages: on a single server, and in a cluster before 7.0. */
    PLAIN("'PUBLISH'", "{{'PUBLISH', 'NUMSUB'}}"),
    /** Sharded grants; every version of Redisson hears of a release. */
    SHARDED_AND_REDISSON_BOTH("'SPUBLISH'", "{{'SPUBLISH', 'SHARDNUMSUB'}, {'PUBLISH', 'NUMSUB'}}"),
    /** Sharded grants; only Redisson 3.22 and later, with its sharded subscriptions, hears of a release. */
    SHARDED_AND_REDISSON_SHARDED("'SPUBLISH'", "{{'SPUBLISH', 'SHARDNUMSUB'}}"),
    /** Sharded grants; only Redisson before 3.22, or with sharded subscriptions off, hears of a release. */
    SHARDED_AND_REDISSON_PLAIN("'SPUBLISH'", "{{'PUBLISH', 'NUMSUB'}}");

    private final String grants;
    private final String releases;

    Publishing(String grants, String releases) {
        this.grants = grants;
        this.releases = releases;
    }

    /** Returns the first line of each script. */
    public String head() {
        return "local GRANT, RELEASES = " + grants + ", " + releases + "\n";
    }

    public boolean sharded() {
        return this != PLAIN;
    }

    /** Whether Redisson's clients with plain subscriptions hear of a release. */
    public boolean releasesPlain() {
        return releases.contains("'PUBLISH'");
    }

    /** Whether Redisson's clients with sharded subscriptions hear of a release. */
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
