package io.holdfast.bench.peer;

import io.holdfast.redis.lua.LuaScript;
import io.lettuce.core.RedisClient;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.codec.StringCodec;
import io.lettuce.core.pubsub.RedisPubSubAdapter;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/**
 * The upper limit of Holdfast's hand-off: its own scripts, queue and grants on plain Lettuce, without the engine. It
 * relies on grants of any age and never renews, so it is not a lock to use. For one name and one thread.
 */
final class LettuceHandoffHandle implements Handle {

    private final RedisClient client;
    private final StatefulRedisConnection<String, String> connection;
    private final StatefulRedisPubSubConnection<String, String> subscription;
    private final String acquire;
    private final String release;
    private final String leaseMillis;
    private final String id = "hf-" + UUID.randomUUID().toString().substring(0, 18);
    private final BlockingQueue<String> messages = new LinkedBlockingQueue<>();
    private long acquisitions;
    private String holder = "";

    LettuceHandoffHandle(String uri, Duration lease) {
        client = RedisClient.create(uri);
        connection = client.connect(StringCodec.UTF8);
        acquire = connection.sync().scriptLoad(HoldfastScripts.text(LuaScript.ACQUIRE));
        release = connection.sync().scriptLoad(HoldfastScripts.text(LuaScript.RELEASE));
        leaseMillis = Long.toString(lease.toMillis());
        subscription = client.connectPubSub(StringCodec.UTF8);
        subscription.addListener(new RedisPubSubAdapter<>() {
            @Override
            public void message(String channel, String message) {
                messages.add(message);
            }
        });
        subscription.sync().subscribe(HoldfastScripts.CHANNELS + id);
    }

    @Override
    public void lock(String name) throws InterruptedException {
        holder = id + ":" + ++acquisitions;
        String granted = "g " + holder + " ";
        while (!isTaken(name)) {
            // Asks again after a second, because an entry counts as dead three seconds after its last stamp.
            for (String message = next(); !message.isEmpty(); message = next()) {
                if (message.startsWith(granted)) {
                    return;
                }
            }
        }
    }

    @Override
    public boolean tryLock(String name) {
        throw new UnsupportedOperationException("Only waits");
    }

    @Override
    public void unlock(String name) {
        run(release, name, new String[] {holder});
    }

    @Override
    public void close() {
        subscription.close();
        connection.close();
        client.shutdown(Duration.ZERO, Duration.ofSeconds(1));
    }

    private boolean isTaken(String name) {
        List<Object> reply = run(acquire, name, HoldfastScripts.acquireArgs(holder, leaseMillis, true));
        return Long.valueOf(1).equals(reply.get(0));
    }

    /** Returns the next message, or an empty one if none comes for a while. */
    private String next() throws InterruptedException {
        String message = messages.poll(1, TimeUnit.SECONDS);
        return message == null ? "" : message;
    }

    private List<Object> run(String script, String name, String[] args) {
        return connection
                .async()
                .<List<Object>>evalsha(script, ScriptOutputType.MULTI, HoldfastScripts.keys(name), args)
                .toCompletableFuture()
                .join();
    }
}
