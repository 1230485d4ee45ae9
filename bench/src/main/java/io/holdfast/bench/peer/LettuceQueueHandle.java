package io.holdfast.bench.peer;

import io.lettuce.core.RedisClient;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.api.async.RedisAsyncCommands;
import io.lettuce.core.codec.StringCodec;
import io.lettuce.core.pubsub.RedisPubSubAdapter;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;
import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.Semaphore;

/**
 * The lowest cost of a hand-off by a server's queue: a list of waiting clients, and one message to the next. It has no
 * lease, no token and no help when a client dies, so it is not a lock to use. For one name and one thread.
 */
final class LettuceQueueHandle implements Handle {

    private static final String LOCK = "if redis.call('SETNX', KEYS[1], ARGV[1]) == 1 then return 1 end "
            + "redis.call('RPUSH', KEYS[2], ARGV[1]) return 0";
    private static final String UNLOCK = "local next = redis.call('LPOP', KEYS[2]) "
            + "if next then redis.call('SET', KEYS[1], next) redis.call('PUBLISH', next, '1') "
            + "else redis.call('DEL', KEYS[1]) end return 1";

    private final RedisClient client;
    private final StatefulRedisConnection<String, String> connection;
    private final StatefulRedisPubSubConnection<String, String> subscription;
    private final RedisAsyncCommands<String, String> commands;
    private final String lock;
    private final String unlock;
    private final String id = "queue-" + UUID.randomUUID();
    private final Semaphore granted = new Semaphore(0);

    LettuceQueueHandle(String uri) {
        client = RedisClient.create(uri);
        connection = client.connect(StringCodec.UTF8);
        commands = connection.async();
        lock = connection.sync().scriptLoad(LOCK);
        unlock = connection.sync().scriptLoad(UNLOCK);
        subscription = client.connectPubSub(StringCodec.UTF8);
        subscription.addListener(new RedisPubSubAdapter<>() {
            @Override
            public void message(String channel, String message) {
                granted.release();
            }
        });
        subscription.sync().subscribe(id);
    }

    @Override
    public void lock(String name) throws InterruptedException {
        if (run(lock, name) == 0) {
            granted.acquire();
        }
    }

    @Override
    public boolean tryLock(String name) {
        throw new UnsupportedOperationException("Only waits");
    }

    @Override
    public void unlock(String name) {
        run(unlock, name);
    }

    @Override
    public void close() {
        subscription.close();
        connection.close();
        client.shutdown(Duration.ZERO, Duration.ofSeconds(1));
    }

    private long run(String script, String name) {
        return commands.<Long>evalsha(script, ScriptOutputType.INTEGER, new String[] {name, name + ":queue"}, id)
                .toCompletableFuture()
                .join();
    }
}
