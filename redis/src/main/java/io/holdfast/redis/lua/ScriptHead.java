package io.holdfast.redis.lua;

import io.holdfast.redis.connect.Publishing;

/**
 * What the scripts of a store begin with: what is the same in all calls, and so is not sent with each.
 *
 * @param channels what the channels of clients begin with
 * @param tagged whether the tag of the lock's slot follows then, as in a cluster
 */
public record ScriptHead(Publishing publishing, String channels, boolean tagged) {

    /** Returns the variables that the functions for telling others use. */
    String text() {
        String quoted = channels.replace("\\", "\\\\").replace("'", "\\'");
        return "local CHANNELS, TAGGED = '" + quoted + "', " + tagged + "\n" + publishing.head();
    }
}
