package io.holdfast.redis;

/** The one logger of the Redis stores. */
final class Log {

    static final System.Logger LOG = System.getLogger("io.holdfast.redis");

    private Log() {}
}
