package io.holdfast.bench.peer;

import com.zaxxer.hikari.HikariDataSource;
import java.time.Duration;
import java.util.concurrent.locks.Lock;
import org.springframework.integration.jdbc.lock.DefaultLockRepository;
import org.springframework.integration.jdbc.lock.JdbcLockRegistry;
import org.springframework.jdbc.support.JdbcTransactionManager;

/** Spring Integration's registry of locks in a database, on a pool of HikariCP. A waiter asks again each 100 ms. */
final class SpringJdbcHandle extends LockHandle {

    /** As many connections as Spring Boot gives a pool. */
    private static final int POOL = 10;

    private final HikariDataSource pool;
    private final JdbcLockRegistry registry;

    SpringJdbcHandle(String uri, Duration lease) {
        pool = pool(uri);
        DefaultLockRepository repository = new DefaultLockRepository(pool);
        repository.setTransactionManager(new JdbcTransactionManager(pool));
        repository.afterPropertiesSet();
        repository.afterSingletonsInstantiated();
        registry = new JdbcLockRegistry(repository, lease);
    }

    /** Returns a pool with one connection at rest, so that sixteen processes do not need all that the server has. */
    static HikariDataSource pool(String uri) {
        HikariDataSource pool = new HikariDataSource();
        pool.setJdbcUrl(uri);
        pool.setMaximumPoolSize(POOL);
        pool.setMinimumIdle(1);
        return pool;
    }

    @Override
    Lock of(String name) {
        return registry.obtain(name);
    }

    @Override
    public void close() {
        pool.close();
    }
}
