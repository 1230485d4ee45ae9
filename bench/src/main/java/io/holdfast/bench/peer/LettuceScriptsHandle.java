package io.holdfast.bench.peer;

import io.holdfast.redis.lua.LuaScript;
import io.lettuce.core.RedisFuture;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

/**
 * The upper limit of Holdfast: its own scripts, with arguments of the same lengths, on a shared connection and without
 * the engine. It does not queue, so it is for uncontended names only. It renews all holds at once, whether they are due
 * or not.
 */
final class LettuceScriptsHandle extends LettuceSpinning {

    /** The number of renewals in one command, the same as Holdfast's. */
    private static final int RENEWALS = 128;

    private final String acquire = redis.load(HoldfastScripts.text(LuaScript.ACQUIRE));
    private final String release = redis.load(HoldfastScripts.text(LuaScript.RELEASE));
    private final String renew = redis.load(HoldfastScripts.text(LuaScript.RENEW));
    private final String leaseMillis;
    private final ScheduledExecutorService renewals = Executors.newSingleThreadScheduledExecutor();

    LettuceScriptsHandle(String uri, Duration lease) {
        super(uri);
        leaseMillis = Long.toString(lease.toMillis());
        long period = lease.toMillis() / 3;
        var unused = renewals.scheduleAtFixedRate(this::renewAll, period, period, TimeUnit.MILLISECONDS);
    }

    @Override
    RedisFuture<?> sendTake(String name, String holder) {
        return redis.run(acquire, HoldfastScripts.keys(name), HoldfastScripts.acquireArgs(holder, leaseMillis, false));
    }

    @Override
    RedisFuture<?> sendRelease(String name, String holder) {
        return redis.run(release, HoldfastScripts.keys(name), holder);
    }

    @Override
    public void close() {
        renewals.shutdownNow();
        super.close();
    }

    private void renewAll() {
        List<String> keys = new ArrayList<>(RENEWALS);
        List<String> args = new ArrayList<>(RENEWALS + 3);
        held().forEach((name, holder) -> {
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
        CompletionStage<List<Object>> renewed =
                redis.run(renew, keys.toArray(String[]::new), args.toArray(String[]::new));
        renewed.whenComplete((reply, error) -> {
            if (error != null) {
                System.err.println("lettuce-scripts: not renewed: " + error);
            }
        });
        keys.clear();
        args.clear();
    }
}
