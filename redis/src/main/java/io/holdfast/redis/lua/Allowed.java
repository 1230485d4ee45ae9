package io.holdfast.redis.lua;

/**
 * What a server lets this user do with scripts. {@link RedisProbe} finds it out once, when the store is opened. Without
 * any of it the locks are as safe, and slower.
 *
 * @param digests whether scripts may be called by their digest (EVALSHA); otherwise each call carries the text (EVAL)
 * @param pushes whether scripts may publish, so that a release can grant the lock to the next client and notify it;
 *     otherwise a release leaves the lock free, and the releasing client sends a hint
 * @param batches whether a script may compute its keys and use those of several slots, so that one command renews many
 *     holds
 */
public record Allowed(boolean digests, boolean pushes, boolean batches) {

    /** A server without restrictions. */
    public static final Allowed ALL = new Allowed(true, true, true);
}
