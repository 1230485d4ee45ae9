package io.holdfast.bench.peer;

import java.net.URI;
import java.time.Duration;
import java.util.List;
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
    boolean take(String name, String holder) {
        try (Jedis jedis = pool.getResource()) {
            return "OK".equals(jedis.set(name, holder, params));
        }
    }

    @Override
    void release(String name, String holder) {
        try (Jedis jedis = pool.getResource()) {
            jedis.evalsha(digest, List.of(name), List.of(holder));
        }
    }

    @Override
    public void close() {
        pool.close();
    }
}
