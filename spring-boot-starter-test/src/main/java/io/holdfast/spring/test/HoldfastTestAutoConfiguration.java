package io.holdfast.spring.test;

import io.holdfast.memory.MemoryLockStore;
import io.holdfast.spi.TimeSource;
import io.holdfast.spring.boot.HoldfastAutoConfiguration;
import io.holdfast.spring.boot.LockStoreFactory;
import java.util.List;
import org.apache.commons.logging.LogFactory;
import org.springframework.beans.factory.config.ConfigurableBeanFactory;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.context.annotation.Bean;
import org.springframework.util.ClassUtils;

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

    private static final List<String> FRAMEWORKS = List.of(
            "org.junit.jupiter.api.Test", "org.junit.Test", "org.testng.annotations.Test", "spock.lang.Specification");

    /** Creates it, for Spring. */
    public HoldfastTestAutoConfiguration() {}

    @Bean
    @ConditionalOnMissingBean
    LockStoreFactory holdfastTestStore(ConfigurableBeanFactory beans) {
        ClassLoader classes = beans.getBeanClassLoader();
        if (FRAMEWORKS.stream().noneMatch(each -> ClassUtils.isPresent(each, classes))) {
            LogFactory.getLog(HoldfastTestAutoConfiguration.class)
                    .warn("The locks are in the memory of this process and exclude no other, because"
                            + " io.holdfast:holdfast-spring-boot-starter-test is on the class path, which has no"
                            + " framework for tests (expected: that dependency with the scope test)");
        }
        return SERVER::connect;
    }
}
