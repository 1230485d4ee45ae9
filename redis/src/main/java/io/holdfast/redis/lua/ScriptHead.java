package io.holdfast.redis.lua;

import io.holdfast.redis.messages.Publishing;

/**
 * The constant head of a store's scripts, which is not sent with each call.
 *
 * @param channels the prefix of clients' channels
 * @param tagged whether the tag of the lock's slot follows the prefix, as in a cluster
 */
public record ScriptHead(Publishing publishing, String channels, boolean tagged) {

    /** Returns the variables of the functions that notify clients. */
    String text() {
        String quoted = channels.replace("\\", "\\\\").replace("'", "\\'");
        return "local CHANNELS, TAGGED = '" + quoted + "', " + tagged + "\n" + publishing.head();
    }
}
