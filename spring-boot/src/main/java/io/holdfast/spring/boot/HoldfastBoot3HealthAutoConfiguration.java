package io.holdfast.spring.boot;

import io.holdfast.LockClient;
import org.springframework.beans.factory.BeanFactoryUtils;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Condition;
import org.springframework.context.annotation.ConditionContext;
import org.springframework.context.annotation.Conditional;
import org.springframework.context.annotation.ImportRuntimeHints;
import org.springframework.core.env.Environment;
import org.springframework.core.type.AnnotatedTypeMetadata;

/** The health contributor {@code locks}, on Boot 3, where its classes have other names than on Boot 4. */
@AutoConfiguration(after = HoldfastAutoConfiguration.class)
@ConditionalOnClass(name = Boot3HealthIndicator.INDICATOR)
@ConditionalOnBean(LockClient.class)
@Conditional(HoldfastBoot3HealthAutoConfiguration.Enabled.class)
@ImportRuntimeHints(Boot3HealthIndicator.Hints.class)
public final class HoldfastBoot3HealthAutoConfiguration {

    /** For Spring. */
    public HoldfastBoot3HealthAutoConfiguration() {}

    /**
     * @param beans only asked for clients when health is: Spring makes a factory bean to know what it makes, and may do so
     *     while it makes the client
     */
    @Bean
    @ConditionalOnMissingBean(name = "locksHealthIndicator")
    Boot3HealthIndicator locksHealthIndicator(ListableBeanFactory beans) {
        return new Boot3HealthIndicator(
                () -> LockHealth.of(BeanFactoryUtils.beansOfTypeIncludingAncestors(beans, LockClient.class)));
    }

    /** As Boot's own condition, whose class has moved. */
    static final class Enabled implements Condition {

        @Override
        public boolean matches(ConditionContext context, AnnotatedTypeMetadata metadata) {
            Environment settings = context.getEnvironment();
            boolean byDefault = settings.getProperty("management.health.defaults.enabled", Boolean.class, true);
            return settings.getProperty("management.health.locks.enabled", Boolean.class, byDefault);
        }
    }
}
