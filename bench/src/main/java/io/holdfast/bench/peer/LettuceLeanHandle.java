package io.holdfast.bench.peer;

import io.lettuce.core.RedisFuture;
import java.time.Duration;

/**
 * The least that a lock can cost the server if it has a lease, a fencing token, a queue in order and messages to
 * waiting clients. Two scripts do no more than that, on plain Lettuce. It gives up where somebody waits, so it is for
 * uncontended names only.
 */
final class LettuceLeanHandle extends LettuceSpinning {

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

    private final String acquire = redis.load(ACQUIRE);
    private final String release = redis.load(RELEASE);
    private final String leaseMillis;

    LettuceLeanHandle(String uri, Duration lease) {
        super(uri);
        leaseMillis = Long.toString(lease.toMillis());
    }

    @Override
    RedisFuture<?> sendTake(String name, String holder) {
        return redis.run(acquire, HoldfastScripts.keys(name), holder, leaseMillis);
    }

    @Override
    RedisFuture<?> sendRelease(String name, String holder) {
        String channel = "redisson_lock__channel:{" + HoldfastScripts.lock(name) + "}";
        return redis.run(release, HoldfastScripts.keys(name), holder, channel);
    }
}
