package io.holdfast.spring.boot;

import io.holdfast.jdbc.JdbcGuard;
import io.holdfast.spring.call.DataSourceGuard;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.BeanFactoryPostProcessor;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Role;

/**
 * Guards the data sources, if {@code holdfast.guard.enabled} is true. A {@link JdbcGuard} bean replaces ours.
 *
 * @see <a href="https://github.com/holdfast-lock/holdfast/blob/main/docs/spring.md#the-guard-in-the-database">
 *     The guard in the database</a>
 */
@AutoConfiguration
@ConditionalOnProperty(prefix = "holdfast.guard", name = "enabled")
@EnableConfigurationProperties({HoldfastGuardProperties.class, HoldfastProperties.class})
public final class HoldfastGuardAutoConfiguration {

    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(JdbcGuard.class)
    static class Guard {

        @Bean
        @ConditionalOnMissingBean
        @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
        static JdbcGuard holdfastJdbcGuard(HoldfastGuardProperties properties) {
            try {
                return JdbcGuard.defaults().table(properties.table()).epoch(properties.epoch());
            } catch (IllegalArgumentException e) {
                throw new LockSettingsException(e);
            }
        }

        @Bean
        static GuardTables holdfastGuardTables(
                JdbcGuard guard, ConfigurableListableBeanFactory beans, HoldfastProperties properties) {
            return new GuardTables(guard, beans, properties.startup());
        }

        @Bean
        @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
        static DataSourceGuard holdfastDataSourceGuard(ObjectProvider<JdbcGuard> guard, ListableBeanFactory beans) {
            return new DataSourceGuard(guard::getObject, beans);
        }
    }

    /** A guard that was asked for and is not there must not go unnoticed. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnMissingClass("io.holdfast.jdbc.JdbcGuard")
    static class Missing {

        @Bean
        static BeanFactoryPostProcessor holdfastGuardIsMissing() {
            return beans -> {
                throw new LockSettingsException(new IllegalArgumentException(
                        "holdfast.guard.enabled: holdfast-jdbc is not on the class path (expected: the dependency"
                                + " io.holdfast:holdfast-jdbc, or holdfast.guard.enabled=false)"));
            };
        }
    }
}
