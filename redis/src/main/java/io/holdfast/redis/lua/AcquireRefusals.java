package io.holdfast.redis.lua;

import io.holdfast.redis.server.RedisErrors;

/** The refusals that the scripts of acquires have in common. A script that refuses has done nothing. */
final class AcquireRefusals {

    private static final int LATE = -1;
    private static final int UNUSABLE_KEY = -2;

    private AcquireRefusals() {}

    /** Returns whether the command was delayed, or the server's clock was set. The clock is known after the reply. */
    static boolean isLate(int code) {
        return code == LATE;
    }

    /**
     * Throws the reason if the script refused.
     *
     * @param reply its code and the server's time were read
     * @param counter the counter's key
     */
    static void check(int code, ScriptReply reply, RedisErrors errors, String counter) {
        if (code == LATE) {
            throw errors.late();
        }
        if (code == UNUSABLE_KEY) {
            String type = reply.text();
            throw errors.unusable(reply.text(), type, counter);
        }
    }
}
