package io.holdfast.bench.peer;

import static java.util.Objects.requireNonNull;

import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisFuture;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.SetArgs;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.api.async.RedisAsyncCommands;
import io.lettuce.core.codec.StringCodec;
import java.time.Duration;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;

/** The limit: SET NX PX and a compare-and-delete script on one shared connection. */
final class LettuceHandle extends Spinning {

    private final RedisClient client;
    private final StatefulRedisConnection<String, String> connection;
    private final RedisAsyncCommands<String, String> commands;
    private final String digest;
    private final SetArgs args;
    private final String id = UUID.randomUUID().toString();
    private final AtomicLong tokens = new AtomicLong();
    private final Map<String, String> held = new ConcurrentHashMap<>();

    LettuceHandle(String uri, Duration lease) {
        client = RedisClient.create(uri);
        connection = client.connect(StringCodec.UTF8);
        commands = connection.async();
        digest = connection.sync().scriptLoad(COMPARE_AND_DELETE);
        args = SetArgs.Builder.nx().px(lease.toMillis());
    }

    @Override
    public boolean tryLock(String name) {
        String token = token();
        boolean taken = "OK"
                .equals(commands.set(name, token, args).toCompletableFuture().join());
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
        return commands.set(name, token, args).thenCompose(taken -> release(name, token));
    }

    @Override
    public void close() {
        connection.close();
        client.shutdown(Duration.ZERO, Duration.ofSeconds(1));
    }

    private RedisFuture<Long> release(String name, String token) {
        return commands.evalsha(digest, ScriptOutputType.INTEGER, new String[] {name}, token);
    }

    private String token() {
        return id + ":" + tokens.incrementAndGet();
    }
}
