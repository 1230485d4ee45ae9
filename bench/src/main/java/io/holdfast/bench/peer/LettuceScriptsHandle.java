package io.holdfast.bench.peer;

import static java.util.Objects.requireNonNull;

import io.holdfast.redis.lua.LuaScript;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisFuture;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.api.async.RedisAsyncCommands;
import io.lettuce.core.codec.StringCodec;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The upper limit of Holdfast: its own scripts, with arguments of the same lengths, on a shared connection and without
 * the engine. It does not queue, so it is for uncontended names only. It renews all holds at once, whether they are due
 * or not.
 */
final class LettuceScriptsHandle extends Spinning {

    /** The number of renewals in one command, the same as Holdfast's. */
    private static final int RENEWALS = 128;

    private final RedisClient client;
    private final StatefulRedisConnection<String, String> connection;
    private final RedisAsyncCommands<String, String> commands;
    private final String acquire;
    private final String release;
    private final String renew;
    private final String leaseMillis;
    private final ScheduledExecutorService renewals = Executors.newSingleThreadScheduledExecutor();
    private final String id = "hf-" + UUID.randomUUID().toString().substring(0, 18);
    private final AtomicLong tokens = new AtomicLong();
    private final Map<String, String> held = new ConcurrentHashMap<>();

    LettuceScriptsHandle(String uri, Duration lease) {
        client = RedisClient.create(uri);
        connection = client.connect(StringCodec.UTF8);
        commands = connection.async();
        acquire = connection.sync().scriptLoad(HoldfastScripts.text(LuaScript.ACQUIRE));
        release = connection.sync().scriptLoad(HoldfastScripts.text(LuaScript.RELEASE));
        renew = connection.sync().scriptLoad(HoldfastScripts.text(LuaScript.RENEW));
        leaseMillis = Long.toString(lease.toMillis());
        long period = lease.toMillis() / 3;
        var unused = renewals.scheduleAtFixedRate(this::renewAll, period, period, TimeUnit.MILLISECONDS);
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
        renewals.shutdownNow();
        connection.close();
        client.shutdown(Duration.ZERO, Duration.ofSeconds(1));
    }

    private RedisFuture<List<Object>> acquire(String name, String holder) {
        return commands.evalsha(
                acquire,
                ScriptOutputType.MULTI,
                HoldfastScripts.keys(name),
                HoldfastScripts.acquireArgs(holder, leaseMillis, false));
    }

    private RedisFuture<List<Object>> release(String name, String holder) {
        return commands.evalsha(release, ScriptOutputType.MULTI, HoldfastScripts.keys(name), holder);
    }

    private void renewAll() {
        List<String> keys = new ArrayList<>(RENEWALS);
        List<String> args = new ArrayList<>(RENEWALS + 3);
        held.forEach((name, holder) -> {
            if (keys.isEmpty()) {
                args.addAll(List.of(leaseMillis, "0", "0"));
            }
            keys.add(HoldfastScripts.lock(name));
            args.add(holder);
            if (keys.size() == RENEWALS) {
                renew(keys, args);
            }
        });
        if (!keys.isEmpty()) {
            renew(keys, args);
        }
    }

    private void renew(List<String> keys, List<String> args) {
        CompletionStage<List<Object>> renewed = commands.evalsha(
                renew, ScriptOutputType.MULTI, keys.toArray(String[]::new), args.toArray(String[]::new));
        renewed.whenComplete((reply, error) -> {
            if (error != null) {
                System.err.println("lettuce-scripts: not renewed: " + error);
            }
        });
        keys.clear();
        args.clear();
    }

    private String holder() {
        return id + ":" + tokens.incrementAndGet();
    }
}
