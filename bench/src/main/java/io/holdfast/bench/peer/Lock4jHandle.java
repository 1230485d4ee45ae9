package io.holdfast.bench.peer;

import static java.util.Objects.requireNonNull;

import com.baomidou.lock.LockInfo;
import com.baomidou.lock.LockTemplate;
import com.baomidou.lock.executor.RedisTemplateLockExecutor;
import com.baomidou.lock.spring.boot.autoconfigure.Lock4jProperties;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.data.redis.core.StringRedisTemplate;

/** Lock4j's template over its Redis executor, wired by hand instead of by Spring Boot. */
final class Lock4jHandle implements Handle {

    private static final long WAIT_MILLIS = 3_600_000;

    private final LettuceConnectionFactory connections;
    private final LockTemplate template = new LockTemplate();
    private final Map<String, LockInfo> held = new ConcurrentHashMap<>();
    private final long expireMillis;

    Lock4jHandle(String uri, Duration lease) {
        URI address = URI.create(uri);
        connections = new LettuceConnectionFactory(address.getHost(), address.getPort());
        connections.afterPropertiesSet();
        connections.start();
        Lock4jProperties properties = new Lock4jProperties();
        properties.setPrimaryExecutor(RedisTemplateLockExecutor.class);
        template.setProperties(properties);
        template.setExecutors(List.of(new RedisTemplateLockExecutor(new StringRedisTemplate(connections), properties)));
        expireMillis = lease.toMillis();
        try {
            template.afterPropertiesSet();
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    @Override
    public void lock(String name) {
        if (!lock(name, WAIT_MILLIS)) {
            throw new IllegalStateException("no lock on " + name + " within an hour");
        }
    }

    @Override
    public boolean tryLock(String name) {
        return lock(name, 0);
    }

    @Override
    public void unlock(String name) {
        LockInfo info = requireNonNull(held.remove(name));
        if (!template.releaseLock(info)) {
            throw new IllegalStateException("lock4j lost " + name);
        }
    }

    @Override
    public void close() {
        connections.destroy();
    }

    private boolean lock(String name, long waitMillis) {
        LockInfo info = template.lock(name, expireMillis, waitMillis);
        if (info == null) {
            return false;
        }
        held.put(name, info);
        return true;
    }
}
