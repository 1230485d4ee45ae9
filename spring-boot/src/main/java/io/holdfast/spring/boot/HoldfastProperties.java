package io.holdfast.spring.boot;

import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * Settings of distributed locks.
 *
 * @param enabled Whether to make a LockClient. Without one, an application with locked methods does not start.
 * @param store URI of the store, for example redis://host, redlock://a,b,c, zookeeper://host or memory:name. The Redis of
 *     spring.data.redis.* by default.
 * @param connectionFactory Name of the RedisConnectionFactory bean to use the settings of, if there are several.
 * @param namePrefix What the Redis keys of locks begin with, before the lock's name. By default "lock:". Empty to share locks by
 *     name with Redisson. The same for all clients that share locks.
 * @param internalPrefix What Holdfast's internal Redis keys and channels begin with. By default "holdfast". The same for all
 *     clients that share locks.
 * @param mode Whether locks are kept by Lua scripts or by plain commands. By default whatever the server allows.
 * @param minReplicas Number of replicas that must have a new hold before its lease is handed out.
 * @param waitTime Time to wait for the lock of a method that does not say otherwise. Negative for as long as needed.
 * @param leaseTime Length of a lease that is renewed. After the death of a process its locks are free within this time.
 * @param storeTimeout Time for which a failing store is asked again before waiters fail.
 * @param commandTimeout Time to wait for the answer to a command. By default spring.data.redis.timeout, or 3 seconds.
 * @param handOff Passing a lock on inside of this process.
 * @param metrics Meters.
 */
@ConfigurationProperties("holdfast")
public record HoldfastProperties(
        @DefaultValue("true") boolean enabled,
        @Nullable String store,
        @Nullable String connectionFactory,
        @Nullable String namePrefix,
        @Nullable String internalPrefix,
        @Nullable Mode mode,
        @Nullable Integer minReplicas,
        @DefaultValue("10s") Duration waitTime,
        @DefaultValue("30s") Duration leaseTime,
        @DefaultValue("5s") Duration storeTimeout,
        @Nullable Duration commandTimeout,
        @DefaultValue HandOff handOff,
        @DefaultValue Metrics metrics) {

    /** How locks are kept on Redis. */
    public enum Mode {
        /** By Lua scripts if the server allows them, else by plain commands. */
        AUTO,
        /** By Lua scripts. */
        LUA,
        /** By plain commands. */
        COMMANDS
    }

    /**
     * Passing a lock on inside of this process.
     *
     * @param tenure Time for which locked methods of this process keep a lock by passing it on, while another process waits.
     * @param fair Whether locked methods get a lock in strict order of arrival.
     */
    public record HandOff(
            @DefaultValue("10ms") Duration tenure,
            @DefaultValue("false") boolean fair) {}

    /**
     * Meters.
     *
     * @param names Fixed parts of lock names that are used as the tag "name" besides those of locked methods.
     */
    public record Metrics(@DefaultValue List<String> names) {}
}
