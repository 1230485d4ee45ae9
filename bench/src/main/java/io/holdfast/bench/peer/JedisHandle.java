package io.holdfast.bench.peer;

import static java.util.Objects.requireNonNull;

import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.JedisPool;
import redis.clients.jedis.JedisPoolConfig;
import redis.clients.jedis.params.SetParams;

/** The limit with a blocking driver: SET NX PX and a compare-and-delete script, each on a connection from a pool. */
@SuppressWarnings("deprecation") // the pool that most code in the field uses
final class JedisHandle extends Spinning {

    private static final int CONNECTIONS = 300;

    private final JedisPool pool;
    private final String digest;
    private final SetParams params;
    private final String id = UUID.randomUUID().toString();
    private final AtomicLong tokens = new AtomicLong();
    private final Map<String, String> held = new ConcurrentHashMap<>();

    JedisHandle(String uri, Duration lease) {
        JedisPoolConfig config = new JedisPoolConfig();
        config.setMaxTotal(CONNECTIONS);
        config.setMaxIdle(CONNECTIONS);
        pool = new JedisPool(config, URI.create(uri));
        params = SetParams.setParams().nx().px(lease.toMillis());
        try (Jedis jedis = pool.getResource()) {
            digest = jedis.scriptLoad(COMPARE_AND_DELETE);
        }
    }

    @Override
    public boolean tryLock(String name) {
        String token = id + ":" + tokens.incrementAndGet();
        try (Jedis jedis = pool.getResource()) {
            boolean taken = "OK".equals(jedis.set(name, token, params));
            if (taken) {
                held.put(name, token);
            }
            return taken;
        }
    }

    @Override
    public void unlock(String name) {
        try (Jedis jedis = pool.getResource()) {
            jedis.evalsha(digest, List.of(name), List.of(requireNonNull(held.remove(name))));
        }
    }

    @Override
    public void close() {
        pool.close();
    }
}
