package io.holdfast.bench.peer;

import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisFuture;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.api.async.RedisAsyncCommands;
import io.lettuce.core.codec.StringCodec;
import io.lettuce.core.pubsub.RedisPubSubAdapter;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import org.jspecify.annotations.Nullable;

/** Plain Lettuce with one shared connection, as the limits of what a lock could reach use it. Thread-safe. */
final class LettuceClient implements AutoCloseable {

    private final RedisClient client;
    private final StatefulRedisConnection<String, String> connection;
    private final RedisAsyncCommands<String, String> commands;

    LettuceClient(String uri) {
        client = RedisClient.create(uri);
        connection = client.connect(StringCodec.UTF8);
        commands = connection.async();
    }

    RedisAsyncCommands<String, String> commands() {
        return commands;
    }

    /** Loads a script. Returns what {@link #run} takes. */
    String load(String script) {
        return connection.sync().scriptLoad(script);
    }

    /** Runs a loaded script that returns a list. */
    RedisFuture<List<Object>> run(String script, String[] keys, String... args) {
        return commands.evalsha(script, ScriptOutputType.MULTI, keys, args);
    }

    /** Returns the messages of a channel from now on, in the order of their arrival. */
    BlockingQueue<String> subscribe(String channel) {
        BlockingQueue<String> messages = new LinkedBlockingQueue<>();
        StatefulRedisPubSubConnection<String, String> subscription = client.connectPubSub(StringCodec.UTF8);
        subscription.addListener(new RedisPubSubAdapter<>() {
            @Override
            public void message(String from, String message) {
                messages.add(message);
            }
        });
        subscription.sync().subscribe(channel);
        return messages;
    }

    /** Returns whether a command did its work: it replied OK, or a list whose first element is 1. */
    static boolean isDone(@Nullable Object reply) {
        return "OK".equals(reply)
                || (reply instanceof List<?> list && Long.valueOf(1).equals(list.get(0)));
    }

    /** Closes all connections. */
    @Override
    public void close() {
        client.shutdown(Duration.ZERO, Duration.ofSeconds(1));
    }
}
