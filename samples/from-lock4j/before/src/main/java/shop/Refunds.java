package shop;

import com.baomidou.lock.LockInfo;
import com.baomidou.lock.LockTemplate;
import com.baomidou.lock.annotation.Lock4j;
import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.stereotype.Component;

@Component
public class Refunds {

    private final LockTemplate locks;
    private final StringRedisTemplate redis;

    Refunds(LockTemplate locks, StringRedisTemplate redis) {
        this.locks = locks;
        this.redis = redis;
    }

    /** Returns whether this call refunded the order. */
    @Lock4j(name = "refund", keys = "#orderId")
    public boolean refund(String orderId) throws InterruptedException {
        if (Boolean.TRUE.equals(redis.hasKey("refunded:" + orderId))) {
            return false;
        }
        Thread.sleep(20); // the bank
        redis.opsForValue().set("refunded:" + orderId, "yes");
        return true;
    }

    /** Fails if the export runs already. */
    @Lock4j(name = "export", acquireTimeout = 0)
    public void export() throws InterruptedException {
        Thread.sleep(1_000);
    }

    /** Returns whether this call made the report; false if another call makes it. */
    public boolean report(String site) throws InterruptedException {
        LockInfo lock = locks.lock("report:" + site, 60_000, 0);
        if (lock == null) {
            return false;
        }
        try {
            Thread.sleep(1_000);
        } finally {
            locks.releaseLock(lock);
        }
        return true;
    }
}
