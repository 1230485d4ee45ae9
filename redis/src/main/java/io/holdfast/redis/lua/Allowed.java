package io.holdfast.redis.lua;

/**
 * What a server lets this user do with scripts. Found out once, when the store is opened ({@link RedisProbe}). The locks
 * are as safe without any of it, and slower.
 *
 * @param digests scripts may be called by their digest (EVALSHA); else each call carries the text (EVAL)
 * @param pushes scripts may publish, so that a release can grant the lock to the next client and tell it; else it leaves
 *     the lock free, and the releasing client sends a hint
 * @param batches a script may use keys that are computed, and of several slots, so that one command renews many holds
 */
public record Allowed(boolean digests, boolean pushes, boolean batches) {

    /** A server without restrictions. */
    public static final Allowed ALL = new Allowed(true, true, true);
}
