package io.holdfast.redis;

import io.holdfast.LockClient;
import io.lettuce.core.RedisClient;
import io.lettuce.core.api.sync.RedisCommands;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;

/** Does work that is recorded in the store, one key after the other or up to a step, until it is killed. */
final class KilledOnce {

    /** After a death the next caller waits for its end. */
    static final Duration LEASE = Duration.ofSeconds(3);

    static final String BEFORE_RECORD = "before-record";
    static final String AFTER_RECORD = "after-record";

    private KilledOnce() {}

    /** Arguments: the server's URI, and the step of key 0 to stop at or the first key. */
    public static void main(String[] args) throws InterruptedException {
        String stop = args[1];
        String who = Long.toString(ProcessHandle.current().pid());
        try (LockClient client = client(args[0]);
                RedisClient driver = RedisClient.create(args[0])) {
            RedisCommands<String, String> redis = driver.connect().sync();
            boolean steps = stop.equals(BEFORE_RECORD) || stop.equals(AFTER_RECORD);
            for (int i = steps ? 0 : Integer.parseInt(stop); ; i++) {
                int key = i;
                client.once().run("payment:" + key, "", lease -> {
                    String receipt = work(redis, key, who);
                    if (stop.equals(BEFORE_RECORD)) {
                        stopAt(key);
                    }
                    return receipt;
                });
                if (stop.equals(AFTER_RECORD)) {
                    stopAt(key);
                }
                // The test knows by the dot that the line is whole.
                System.out.println("done " + key + ".");
            }
        }
    }

    static LockClient client(String uri) {
        return LockClient.builder().uri(uri).leaseTime(LEASE).build();
    }

    /** The effect: its beginning and its end, so that the test sees two at once. */
    static String work(RedisCommands<String, String> redis, int key, String who) {
        redis.rpush("effects:" + key, "begin " + who);
        redis.rpush("effects:" + key, "end " + who);
        return "receipt of " + who;
    }

    private static void stopAt(int key) {
        System.out.println("stops at " + key + ".");
        while (true) {
            LockSupport.park();
        }
    }
}
