package io.holdfast.bench.peer;

import java.util.UUID;
import java.util.concurrent.BlockingQueue;

/**
 * The lowest cost of a hand-off by a server's queue: a list of waiting clients, and one message to the next. It has no
 * lease, no token and no help when a client dies, so it is not a lock to use. For one name and one thread.
 */
final class LettuceQueueHandle implements Handle {

    private static final String LOCK = "if redis.call('SETNX', KEYS[1], ARGV[1]) == 1 then return {1} end "
            + "redis.call('RPUSH', KEYS[2], ARGV[1]) return {0}";
    private static final String UNLOCK = "local next = redis.call('LPOP', KEYS[2]) "
            + "if next then redis.call('SET', KEYS[1], next) redis.call('PUBLISH', next, '1') "
            + "else redis.call('DEL', KEYS[1]) end return {1}";

    private final LettuceClient redis;
    private final String lock;
    private final String unlock;
    private final String id = "queue-" + UUID.randomUUID();
    private final BlockingQueue<String> grants;

    LettuceQueueHandle(String uri) {
        redis = new LettuceClient(uri);
        lock = redis.load(LOCK);
        unlock = redis.load(UNLOCK);
        grants = redis.subscribe(id);
    }

    @Override
    public void lock(String name) throws InterruptedException {
        if (!run(lock, name)) {
            grants.take();
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
        redis.close();
    }

    private boolean run(String script, String name) {
        return LettuceClient.isDone(redis.run(script, new String[] {name, name + ":queue"}, id)
                .toCompletableFuture()
                .join());
    }
}
