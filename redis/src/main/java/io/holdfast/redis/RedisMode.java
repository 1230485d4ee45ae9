package io.holdfast.redis;

/**
 * The way in which a store keeps locks at the server. Clients in different modes exclude each other on a name; clients
 * in mode {@link #LUA} then come first.
 *
 * <pre>{@code
 * LockClient one = LockClient.connect("redis://127.0.0.1:6379?mode=commands");
 *
 * RedisURI uri = RedisURI.create("redis://127.0.0.1:6379");      // the same in code
 * LockClient two = LockClient.builder()
 *         .store(RedisStores.standalone(uri).mode(RedisMode.COMMANDS)::open)
 *         .build();
 * }</pre>
 */
public enum RedisMode {
    /** {@link #LUA} where the server runs scripts for this user, otherwise {@link #COMMANDS}. */
    AUTO,
    /** By scripts. This is the fastest mode, with a fair queue at the server, and shares locks with Redisson. */
    LUA,
    /** By commands alone, for servers that forbid scripts. */
    COMMANDS
}
