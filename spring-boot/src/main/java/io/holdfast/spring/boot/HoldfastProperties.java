package io.holdfast.spring.boot;

import io.holdfast.spring.OuterTransaction;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * Settings of distributed locks.
 *
 * <pre>{@code
 * holdfast:
 *   name-prefix: "billing:lock:"
 *   wait-time: 5s
 *   lease-time: 20s
 *   hand-off:
 *     fair: true
 * }</pre>
 *
 * @param enabled Whether to make a LockClient. Without one, an application with locked methods does not start.
 * @param store URI of the store, for example redis://host, redlock://a,b,c, zookeeper://host, jdbc:postgresql://host/app
 *     or memory:name; or datasource, for the database of the application. By default the Redis of spring.data.redis.*,
 *     and the application's database if there is no Redis.
 * @param datasource Name of the DataSource bean whose database keeps the locks. Needed if there are several.
 * @param createTable Whether to make the tables of the locks in the application's database if they are missing. By
 *     default only in an H2 database in memory.
 * @param connectionFactory Name of the RedisConnectionFactory bean whose settings are used. Needed if there are
 *     several.
 * @param namePrefix Prefix of the Redis keys of locks, before the lock's name. By default "lock:". Empty to share locks
 *     by name with Redisson. Must be the same for all clients that share locks.
 * @param internalPrefix Prefix of Holdfast's internal Redis keys and channels. By default "holdfast". Must be the same
 *     for all clients that share locks.
 * @param mode Whether Lua scripts (lua) or plain commands (commands) keep the locks. By default lua if the server
 *     allows scripts.
 * @param minReplicas Number of replicas that must have a new hold before its lease is handed out.
 * @param waitTime Time to wait for the lock of a method without a wait time of its own. Negative: no limit.
 * @param leaseTime Length of a lease that is renewed. After the death of a process its locks are free within this time.
 * @param storeTimeout Time for which waiters tolerate store failures. By default as long as the store needs to notice a
 *     dead connection and to be answered on a new one, at least 5 seconds.
 * @param commandTimeout Time to wait for the reply to a command. By default spring.data.redis.timeout, or 3 seconds.
 * @param startup Whether the application starts while the store cannot be reached. If it does, calls of locked methods
 *     fail until it can be.
 * @param outerTransaction What happens when a lock is acquired inside a running transaction above READ COMMITTED, whose
 *     reads may be older than the lock.
 * @param leader Leaderships of methods and listeners with Leader.
 * @param handOff Passing a lock on inside this process.
 * @param metrics Meters.
 */
@ConfigurationProperties("holdfast")
public record HoldfastProperties(
        @DefaultValue("true") boolean enabled,
        @Nullable String store,
        @Nullable String datasource,
        @Nullable Boolean createTable,
        @Nullable String connectionFactory,
        @Nullable String namePrefix,
        @Nullable String internalPrefix,
        @Nullable Mode mode,
        @Nullable Integer minReplicas,
        @DefaultValue("10s") Duration waitTime,
        @DefaultValue("30s") Duration leaseTime,
        @Nullable Duration storeTimeout,
        @Nullable Duration commandTimeout,
        @DefaultValue("eager") Startup startup,
        @DefaultValue("warn") OuterTransaction outerTransaction,
        @DefaultValue Leader leader,
        @DefaultValue HandOff handOff,
        @DefaultValue Metrics metrics) {

    /** Behavior if the store cannot be reached at the start. */
    public enum Startup {
        /** The application does not start. */
        EAGER,
        /** The application starts. */
        LAZY
    }

    /** The way in which locks are kept on Redis. */
    public enum Mode {
        /** Mode {@link #LUA} if the server allows scripts, otherwise mode {@link #COMMANDS}. */
        AUTO,
        /** By Lua scripts. */
        LUA,
        /** By plain commands. */
        COMMANDS
    }

    /**
     * Leaderships of methods and listeners with Leader.
     *
     * @param stopWithin Time for which a leader may stop before its lock is released. By default a third of lease-time,
     *     which is also the most.
     */
    public record Leader(@Nullable Duration stopWithin) {}

    /**
     * Passing a lock on inside this process.
     *
     * @param tenure Time for which locked methods of this process pass a lock on to each other while another process
     *     waits.
     * @param fair Whether locked methods acquire a lock in strict order of arrival.
     */
    public record HandOff(
            @DefaultValue("10ms") Duration tenure,
            @DefaultValue("false") boolean fair) {}

    /**
     * Meters.
     *
     * @param names Constant parts of lock names for the tag "name", besides those of locked methods.
     */
    public record Metrics(@DefaultValue List<String> names) {}
}
