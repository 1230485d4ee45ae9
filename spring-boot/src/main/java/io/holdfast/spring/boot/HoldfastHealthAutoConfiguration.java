package io.holdfast.spring.boot;

import io.holdfast.LockClient;
import java.util.Map;
import org.springframework.beans.factory.BeanFactoryUtils;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.health.autoconfigure.contributor.ConditionalOnEnabledHealthIndicator;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.context.annotation.Bean;

/** The health contributor {@code locks}, on Boot 4; {@code management.health.locks.enabled=false} switches it off. */
@AutoConfiguration(after = HoldfastAutoConfiguration.class)
@ConditionalOnClass({HealthIndicator.class, ConditionalOnEnabledHealthIndicator.class})
@ConditionalOnBean(LockClient.class)
@ConditionalOnEnabledHealthIndicator("locks")
public final class HoldfastHealthAutoConfiguration {

    /** For Spring. */
    public HoldfastHealthAutoConfiguration() {}

    @Bean
    @ConditionalOnMissingBean(name = "locksHealthIndicator")
    HealthIndicator locksHealthIndicator(ListableBeanFactory beans) {
        Map<String, LockClient> clients = BeanFactoryUtils.beansOfTypeIncludingAncestors(beans, LockClient.class);
        return () -> {
            LockHealth health = LockHealth.of(clients);
            return (health.up() ? Health.up() : Health.down())
                    .withDetails(health.details())
                    .build();
        };
    }
}
