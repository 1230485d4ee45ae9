package io.holdfast.bench.peer;

import static java.util.Objects.requireNonNull;

import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisFuture;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.api.async.RedisAsyncCommands;
import io.lettuce.core.codec.StringCodec;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Holdfast's ceiling: its own acquire and release scripts, with arguments of the same lengths, on a shared connection and
 * with nothing around them. Does not queue, so it is for uncontended names only.
 */
final class LettuceScriptsHandle extends Spinning {

    private static final String CHANNELS = "holdfast:c:";
    private static final String POLL_MILLIS = "1000";

    private final RedisClient client;
    private final StatefulRedisConnection<String, String> connection;
    private final RedisAsyncCommands<String, String> commands;
    private final String acquire;
    private final String release;
    private final String leaseMillis;
    private final String id = "hf-" + UUID.randomUUID().toString().substring(0, 18);
    private final AtomicLong tokens = new AtomicLong();
    private final Map<String, String> held = new ConcurrentHashMap<>();

    LettuceScriptsHandle(String uri, Duration lease) {
        client = RedisClient.create(uri);
        connection = client.connect(StringCodec.UTF8);
        commands = connection.async();
        acquire = connection.sync().scriptLoad(script("acquire"));
        release = connection.sync().scriptLoad(script("release"));
        leaseMillis = Long.toString(lease.toMillis());
    }

    @Override
    public boolean tryLock(String name) {
        String holder = holder();
        List<Object> reply = acquire(name, holder).toCompletableFuture().join();
        boolean taken = Long.valueOf(1).equals(reply.get(0));
        if (taken) {
            held.put(name, holder);
        }
        return taken;
    }

    @Override
    public void unlock(String name) {
        release(name, requireNonNull(held.remove(name))).toCompletableFuture().join();
    }

    @Override
    public CompletionStage<?> pair(String name) {
        String holder = holder();
        return acquire(name, holder).thenCompose(reply -> release(name, holder));
    }

    @Override
    public void close() {
        connection.close();
        client.shutdown(Duration.ZERO, Duration.ofSeconds(1));
    }

    private RedisFuture<List<Object>> acquire(String name, String holder) {
        String notAfter = Long.toString(System.currentTimeMillis() + 3_000);
        return commands.evalsha(
                acquire,
                ScriptOutputType.MULTI,
                keys(name),
                CHANNELS,
                channel(name),
                holder,
                leaseMillis,
                POLL_MILLIS,
                "0",
                notAfter,
                "0",
                "0");
    }

    private RedisFuture<List<Object>> release(String name, String holder) {
        return commands.evalsha(
                release, ScriptOutputType.MULTI, keys(name), CHANNELS, channel(name), holder, "", "0", "0", "0");
    }

    private String holder() {
        return id + ":" + tokens.incrementAndGet();
    }

    private static String[] keys(String name) {
        String start = "holdfast:{" + name + "}:";
        return new String[] {name, start + "q:" + name, start + "s:" + name, start + "b:" + name};
    }

    private static String channel(String name) {
        return "redisson_lock__channel:{" + name + "}";
    }

    private static String script(String name) {
        String head = "local GRANT, RELEASES = 'PUBLISH', {{'PUBLISH', 'NUMSUB'}}";
        return String.join("\n", head, resource("push"), resource("common"), resource(name));
    }

    private static String resource(String name) {
        String path = "/io/holdfast/redis/" + name + ".lua";
        try (InputStream in = LettuceScriptsHandle.class.getResourceAsStream(path)) {
            return new String(requireNonNull(in, path).readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
