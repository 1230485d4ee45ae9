package shop;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.Lock;
import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.integration.support.locks.DistributedLock;
import org.springframework.integration.support.locks.LockRegistry;
import org.springframework.stereotype.Component;

/** Never sells an article that is not there. */
@Component
public class Stock {

    private final LockRegistry<DistributedLock> locks;
    private final StringRedisTemplate redis;

    Stock(LockRegistry<DistributedLock> locks, StringRedisTemplate redis) {
        this.locks = locks;
        this.redis = redis;
    }

    /** Returns whether there was one left. */
    public boolean sell(String article) throws InterruptedException {
        Lock lock = locks.obtain(article);
        if (!lock.tryLock(30, TimeUnit.SECONDS)) {
            throw new IllegalStateException("busy: " + article);
        }
        try {
            long left = left(article);
            if (left == 0) {
                return false;
            }
            redis.opsForValue().set("stock:" + article, String.valueOf(left - 1));
            return true;
        } finally {
            lock.unlock();
        }
    }

    public void restock(String article, long more) throws InterruptedException, TimeoutException {
        locks.executeLocked(
                article,
                Duration.ofSeconds(30),
                () -> redis.opsForValue().set("stock:" + article, String.valueOf(left(article) + more)));
    }

    public long left(String article) {
        String left = redis.opsForValue().get("stock:" + article);
        return left == null ? 0 : Long.parseLong(left);
    }
}
