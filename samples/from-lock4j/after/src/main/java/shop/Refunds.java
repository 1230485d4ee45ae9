package shop;

import io.holdfast.spring.LockTemplate;
import io.holdfast.spring.Locked;
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
    @Locked(name = "refund", key = "#orderId")
    public boolean refund(String orderId) throws InterruptedException {
        if (Boolean.TRUE.equals(redis.hasKey("refunded:" + orderId))) {
            return false;
        }
        Thread.sleep(20); // the bank
        redis.opsForValue().set("refunded:" + orderId, "yes");
        return true;
    }

    /** Fails if the export runs already. */
    @Locked(name = "export", waitTime = "0")
    public void export() throws InterruptedException {
        Thread.sleep(1_000);
    }

    /** Returns whether this call made the report; false if another call makes it. */
    public boolean report(String site) throws InterruptedException {
        return locks.tryExecute("report:" + site, lease -> Thread.sleep(1_000));
    }
}
