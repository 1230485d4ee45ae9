package io.holdfast.samples.refunds;

import java.util.concurrent.TimeUnit;
import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.stereotype.Component;

/**
 * The shared state of the instances, in the place of a database. Each operation reads first and writes later. Without a
 * lock, two requests at once both find nothing and both write.
 */
@Component
class Ledger {

    private final StringRedisTemplate redis;

    Ledger(StringRedisTemplate redis) {
        this.redis = redis;
    }

    /** Returns false if the entry existed already. */
    boolean writeOnce(String entry, long fencingToken) {
        if (redis.opsForValue().get("ledger:" + entry) != null) {
            return false;
        }
        pause();
        redis.opsForValue().set("ledger:" + entry, Long.toString(fencingToken));
        redis.opsForValue().increment("ledger:writes:" + entry);
        return true;
    }

    /** Returns the number of writes of the entry. More than one means that a refund was paid twice. */
    long writes(String entry) {
        String count = redis.opsForValue().get("ledger:writes:" + entry);
        return count == null ? 0 : Long.parseLong(count);
    }

    private static void pause() {
        try {
            TimeUnit.MILLISECONDS.sleep(20);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
