package io.holdfast.spring.test;

import io.holdfast.memory.MemoryLockStore;
import io.holdfast.spi.TimeSource;
import io.holdfast.spring.boot.HoldfastAutoConfiguration;
import io.holdfast.spring.boot.LockStoreFactory;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.context.annotation.Bean;

/**
 * Replaces the application's store by one in memory. With {@code holdfast.test.enabled=false} a test keeps the
 * application's own store.
 *
 * @see <a href="https://github.com/holdfast-lock/holdfast/blob/main/docs/spring.md#tests">Tests</a>
 */
@AutoConfiguration(before = HoldfastAutoConfiguration.class)
@ConditionalOnProperty(prefix = "holdfast.test", name = "enabled", matchIfMissing = true)
public final class HoldfastTestAutoConfiguration {

    /** One server for the JVM, like one Redis for all instances. */
    static final MemoryLockStore.Server SERVER = new MemoryLockStore.Server(TimeSource.system());

    /** For Spring. */
    public HoldfastTestAutoConfiguration() {}

    @Bean
    @ConditionalOnMissingBean
    LockStoreFactory holdfastTestStore() {
        return SERVER::connect;
    }
}
