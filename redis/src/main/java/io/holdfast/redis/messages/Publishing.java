package io.holdfast.redis.messages;

import io.holdfast.redis.RedissonChannels;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Says how scripts send messages. Each way has its own version of the scripts, because a single script would have to
 * try an unknown command at every release.
 *
 * @param sharded whether grants are sent to sharded channels
 * @param releasesSharded whether Redisson's clients with sharded subscriptions receive releases
 * @param releasesPlain whether Redisson's clients with plain subscriptions receive them
 */
public record Publishing(boolean sharded, boolean releasesSharded, boolean releasesPlain) {

    /** Not in a cluster, or in one before 7.0: there all versions of Redisson use plain channels. */
    public static final Publishing PLAIN = new Publishing(false, false, true);

    /**
     * Returns the way for a store.
     *
     * @param sharded whether every server has sharded channels, and Redisson may use them
     */
    public static Publishing of(boolean sharded, RedissonChannels redisson) {
        return switch (redisson) {
            case NONE -> new Publishing(sharded, false, false);
            case BOTH -> new Publishing(sharded, sharded, true);
            case SHARDED -> new Publishing(sharded, sharded, !sharded);
            case PLAIN -> new Publishing(sharded, false, true);
        };
    }

    private Stream<String> releases() {
        return Stream.concat(
                releasesSharded ? Stream.of("SPUBLISH") : Stream.empty(),
                releasesPlain ? Stream.of("PUBLISH") : Stream.empty());
    }

    /** Returns what a script begins with. */
    public String head() {
        String pairs = releases()
                .map(command ->
                        "{'" + command + "', '" + (command.equals("SPUBLISH") ? "SHARDNUMSUB" : "NUMSUB") + "'}")
                .collect(Collectors.joining(", ", "{", "}"));
        return "local GRANT, RELEASES = '" + (sharded ? "SPUBLISH" : "PUBLISH") + "', " + pairs + "\n";
    }

    /** Returns the Lua expression that publishes a release to {@code channel}; its value is the number of receivers. */
    public String release() {
        return releases()
                .map(command -> "(tonumber(redis.pcall('" + command + "', channel, '0')) or 0)")
                .reduce((one, other) -> one + " + " + other)
                .orElse("0");
    }
}
