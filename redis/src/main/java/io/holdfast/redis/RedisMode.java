package io.holdfast.redis;

/** How the locks are kept at the server. All clients that share locks must use the same mode. */
public enum RedisMode {
    /** What is best with this server and user. At present always {@link #LUA}. */
    AUTO,
    /** By scripts: the fastest, with a fair queue at the server, and sharing locks with Redisson. */
    LUA,
    /** By commands alone, for servers that forbid scripts. */
    COMMANDS
}
