package shop;

import java.util.concurrent.TimeUnit;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;
import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.stereotype.Component;

@Component
public class Wallets {

    private final RedissonClient locks;
    private final StringRedisTemplate redis;

    Wallets(RedissonClient locks, StringRedisTemplate redis) {
        this.locks = locks;
        this.redis = redis;
    }

    /** Returns whether this call redeemed the coupon. */
    public boolean redeem(String coupon, String owner) {
        RLock lock = locks.getLock("lock:coupon:" + coupon);
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
        // In one order: a multi-lock takes them as they come, and two that come crosswise keep each other waiting.
        boolean sorted = from.compareTo(to) < 0;
        RLock first = locks.getLock("lock:wallet:" + (sorted ? from : to));
        RLock second = locks.getLock("lock:wallet:" + (sorted ? to : from));
        RLock both = locks.getMultiLock(first, second);
        if (!both.tryLock(30, TimeUnit.SECONDS)) {
            throw new IllegalStateException("busy: " + from + ", " + to);
        }
        try {
            set(from, balance(from) - amount);
            set(to, balance(to) + amount);
        } finally {
            both.unlock();
        }
    }

    /** Returns whether this call made the statement; false if another call makes it. A minute is enough for it. */
    public boolean statement() throws InterruptedException {
        RLock lock = locks.getLock("lock:statement");
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
