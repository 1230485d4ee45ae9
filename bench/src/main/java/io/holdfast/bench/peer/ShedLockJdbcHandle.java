package io.holdfast.bench.peer;

import com.zaxxer.hikari.HikariDataSource;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import net.javacrumbs.shedlock.core.ClockProvider;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.LockProvider;
import net.javacrumbs.shedlock.core.SimpleLock;
import net.javacrumbs.shedlock.provider.jdbctemplate.JdbcTemplateLockProvider;
import org.springframework.jdbc.core.JdbcTemplate;

/**
 * ShedLock's provider on a JdbcTemplate, by the time of the database. It cannot wait, so it serves for free locks only.
 */
final class ShedLockJdbcHandle implements Handle {

    private final HikariDataSource pool;
    private final LockProvider provider;
    private final Duration lease;
    private final Map<String, SimpleLock> held = new ConcurrentHashMap<>();

    ShedLockJdbcHandle(String uri, Duration lease) {
        this.pool = SpringJdbcHandle.pool(uri);
        this.provider = new JdbcTemplateLockProvider(JdbcTemplateLockProvider.Configuration.builder()
                .withJdbcTemplate(new JdbcTemplate(pool))
                .usingDbTime()
                .build());
        this.lease = lease;
    }

    @Override
    public void lock(String name) {
        if (!tryLock(name)) {
            throw new IllegalStateException(name + " is held, and ShedLock cannot wait");
        }
    }

    @Override
    public boolean tryLock(String name) {
        SimpleLock lock = provider.lock(new LockConfiguration(ClockProvider.now(), name, lease, Duration.ZERO))
                .orElse(null);
        if (lock == null) {
            return false;
        }
        held.put(name, lock);
        return true;
    }

    @Override
    public void unlock(String name) {
        SimpleLock lock = held.remove(name);
        if (lock == null) {
            throw new IllegalStateException(name + " is not held");
        }
        lock.unlock();
    }

    @Override
    public void close() {
        pool.close();
    }
}
