package io.holdfast.bench.peer;

import io.holdfast.redis.lua.LuaScript;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;

/**
 * The upper limit of Holdfast's hand-off: its own scripts, queue and grants on plain Lettuce, without the engine. It
 * relies on grants of any age and never renews, so it is not a lock to use. For one name and one thread.
 */
final class LettuceHandoffHandle implements Handle {

    private final LettuceClient redis;
    private final String acquire;
    private final String release;
    private final String leaseMillis;
    private final String id = "hf-" + UUID.randomUUID().toString().substring(0, 18);
    private final BlockingQueue<String> messages;
    private long acquisitions;
    private String holder = "";

    LettuceHandoffHandle(String uri, Duration lease) {
        redis = new LettuceClient(uri);
        acquire = redis.load(HoldfastScripts.text(LuaScript.ACQUIRE));
        release = redis.load(HoldfastScripts.text(LuaScript.RELEASE));
        leaseMillis = Long.toString(lease.toMillis());
        messages = redis.subscribe(HoldfastScripts.CHANNELS + id);
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
        run(release, name, holder);
    }

    @Override
    public void close() {
        redis.close();
    }

    private boolean isTaken(String name) {
        return LettuceClient.isDone(run(acquire, name, HoldfastScripts.acquireArgs(holder, leaseMillis, true)));
    }

    /** Returns the next message, or an empty one if none comes for a while. */
    private String next() throws InterruptedException {
        String message = messages.poll(1, TimeUnit.SECONDS);
        return message == null ? "" : message;
    }

    private List<Object> run(String script, String name, String... args) {
        return redis.run(script, HoldfastScripts.keys(name), args)
                .toCompletableFuture()
                .join();
    }
}
