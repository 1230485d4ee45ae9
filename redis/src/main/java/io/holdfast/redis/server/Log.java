package io.holdfast.redis.server;

/** The one logger of the Redis stores. */
public final class Log {

    public static final System.Logger LOG = System.getLogger("io.holdfast.redis");

    private Log() {}
}
