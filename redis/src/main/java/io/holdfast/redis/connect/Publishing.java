package io.holdfast.redis.connect;

import io.holdfast.redis.RedissonChannels;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * How scripts send messages. Each way is a version of the scripts of its own: one that named a command which its server
 * does not know would have to find out at every release.
 */
public enum Publishing {
    /** Not in a cluster, or in one before 7.0. */
    PLAIN("PUBLISH", "PUBLISH"),
    /** Redisson of any version hears that a lock has become free. */
    SHARDED_AND_REDISSON_BOTH("SPUBLISH", "SPUBLISH", "PUBLISH"),
    /** Only Redisson 3.22 and later, with its sharded subscriptions, does. */
    SHARDED_AND_REDISSON_SHARDED("SPUBLISH", "SPUBLISH"),
    /** Only Redisson before 3.22, or with sharded subscriptions off, does. */
    SHARDED_AND_REDISSON_PLAIN("SPUBLISH", "PUBLISH");

    private final String grants;
    private final boolean sharded;
    private final boolean plain;

    /** @param releases the commands that tell Redisson of a release */
    Publishing(String grants, String... releases) {
        this.grants = grants;
        this.sharded = List.of(releases).contains("SPUBLISH");
        this.plain = List.of(releases).contains("PUBLISH");
    }

    private Stream<String> releases() {
        return Stream.of("SPUBLISH", "PUBLISH").filter(command -> command.equals("PUBLISH") ? plain : sharded);
    }

    /** Returns what a script begins with. */
    public String head() {
        String pairs = releases()
                .map(command ->
                        "{'" + command + "', '" + (command.equals("SPUBLISH") ? "SHARDNUMSUB" : "NUMSUB") + "'}")
                .collect(Collectors.joining(", ", "{", "}"));
        return "local GRANT, RELEASES = '" + grants + "', " + pairs + "\n";
    }

    /** Returns the Lua expression that publishes a release to {@code channel}; its value is the number of receivers. */
    public String release() {
        return releases()
                .map(command -> "(tonumber(redis.pcall('" + command + "', channel, '0')) or 0)")
                .collect(Collectors.joining(" + "));
    }

    public boolean sharded() {
        return this != PLAIN;
    }

    /** Returns whether Redisson's clients with plain subscriptions hear of a release. */
    public boolean releasesPlain() {
        return plain;
    }

    /** Returns whether Redisson's clients with sharded subscriptions do. */
    public boolean releasesSharded() {
        return sharded;
    }

    public static Publishing sharded(RedissonChannels redisson) {
        return switch (redisson) {
            case BOTH -> SHARDED_AND_REDISSON_BOTH;
            case SHARDED -> SHARDED_AND_REDISSON_SHARDED;
            case PLAIN -> SHARDED_AND_REDISSON_PLAIN;
        };
    }
}
