package shop;

import static java.time.Duration.ofSeconds;

import io.holdfast.DistributedLock;
import io.holdfast.LockClient;
import io.holdfast.LockOptions;
import io.holdfast.MultiLease;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.stereotype.Component;

@Component
public class Wallets {

    private final LockClient locks;
    private final StringRedisTemplate redis;

    Wallets(LockClient locks, StringRedisTemplate redis) {
        this.locks = locks;
        this.redis = redis;
    }

    /** Returns whether this call redeemed the coupon. */
    public boolean redeem(String coupon, String owner) {
        DistributedLock lock = locks.getLock("lock:coupon:" + coupon);
        lock.lock();
        try {
            if (Boolean.TRUE.equals(redis.hasKey("redeemed:" + coupon))) {
                return false;
            }
            redis.opsForValue().set("redeemed:" + coupon, owner);
            return true;
        } finally {
            lock.unlock();
        }
    }

    public void transfer(String from, String to, long amount) throws InterruptedException {
        List<String> both = List.of("lock:wallet:" + from, "lock:wallet:" + to);
        try (MultiLease held = locks.acquireAll(both, LockOptions.defaults().waitAtMost(ofSeconds(30)))) {
            set(from, balance(from) - amount);
            set(to, balance(to) + amount);
            held.ensureValid();
        }
    }

    /** Returns whether this call made the statement; false if another call makes it. A minute is enough for it. */
    public boolean statement() throws InterruptedException {
        DistributedLock lock = locks.getLock("lock:statement");
        if (!lock.tryLock(0, 60, TimeUnit.SECONDS)) {
            return false;
        }
        try {
            Thread.sleep(1_000);
            return true;
        } finally {
            lock.unlock();
        }
    }

    public long balance(String wallet) {
        String balance = redis.opsForValue().get("wallet:" + wallet);
        return balance == null ? 0 : Long.parseLong(balance);
    }

    private void set(String wallet, long balance) {
        redis.opsForValue().set("wallet:" + wallet, String.valueOf(balance));
    }
}
