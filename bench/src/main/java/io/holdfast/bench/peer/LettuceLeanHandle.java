package io.holdfast.bench.peer;

import static java.util.Objects.requireNonNull;

import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisFuture;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.api.async.RedisAsyncCommands;
import io.lettuce.core.codec.StringCodec;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The limit of what a lock can cost the server that has a lease and a fencing token, keeps the order of a queue and
 * tells waiting clients of a release: two scripts that do the least of that, on plain Lettuce. It gives up where
 * somebody waits, so it is for uncontended names only.
 */
final class LettuceLeanHandle extends Spinning {

    private final RedisClient client;
    private final StatefulRedisConnection<String, String> connection;
    private final RedisAsyncCommands<String, String> commands;
    private static final String ACQUIRE = """
            if redis.call('EXISTS', KEYS[1], KEYS[2]) ~= 0 then return {0} end
            local t = redis.call('TIME')
            local b = redis.call('INCR', KEYS[3])
            local least = ((t[1] - 1577836800) * 64 + math.floor(t[2] / 15625)) * 4096
            if b < least then
              b = least + math.floor(t[2] % 15625 * 2048 / 15625)
              redis.call('SET', KEYS[3], string.format('%.0f', b), 'PX', 86400000)
            end
            redis.call('HSET', KEYS[1], ARGV[1], string.format('%.0f', b))
            redis.call('PEXPIRE', KEYS[1], ARGV[2])
            return {1, t[1] * 1000 + math.floor(t[2] / 1000), b, 0}
            """;

    private static final String RELEASE = """
            if redis.call('EXISTS', KEYS[2]) == 1 then return {0} end
            if redis.call('HDEL', KEYS[1], ARGV[1]) == 0 then return {0} end
            return {1, redis.call('PUBLISH', ARGV[2], '0')}
            """;

    private final String acquire;
    private final String release;
    private final String leaseMillis;
    private final String id = UUID.randomUUID().toString();
    private final AtomicLong tokens = new AtomicLong();
    private final Map<String, String> held = new ConcurrentHashMap<>();

    LettuceLeanHandle(String uri, Duration lease) {
        client = RedisClient.create(uri);
        connection = client.connect(StringCodec.UTF8);
        commands = connection.async();
        acquire = connection.sync().scriptLoad(ACQUIRE);
        release = connection.sync().scriptLoad(RELEASE);
        leaseMillis = Long.toString(lease.toMillis());
    }

    @Override
    public boolean tryLock(String name) {
        String token = token();
        List<Object> reply = acquire(name, token).toCompletableFuture().join();
        boolean taken = Long.valueOf(1).equals(reply.get(0));
        if (taken) {
            held.put(name, token);
        }
        return taken;
    }

    @Override
    public void unlock(String name) {
        release(name, requireNonNull(held.remove(name))).toCompletableFuture().join();
    }

    @Override
    public CompletionStage<?> pair(String name) {
        String token = token();
        return acquire(name, token).thenCompose(reply -> release(name, token));
    }

    @Override
    public void close() {
        connection.close();
        client.shutdown(Duration.ZERO, Duration.ofSeconds(1));
    }

    private RedisFuture<List<Object>> acquire(String name, String token) {
        return commands.evalsha(acquire, ScriptOutputType.MULTI, HoldfastScripts.keys(name), token, leaseMillis);
    }

    private RedisFuture<List<Object>> release(String name, String token) {
        String channel = "redisson_lock__channel:{" + HoldfastScripts.lock(name) + "}";
        return commands.evalsha(release, ScriptOutputType.MULTI, HoldfastScripts.keys(name), token, channel);
    }

    private String token() {
        return id + ":" + tokens.incrementAndGet();
    }
}
